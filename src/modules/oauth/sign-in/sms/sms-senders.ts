import type { Clock } from '../../../../common/clock.js';
import type { SmsConfig } from '../../../../config/sms-config.js';
import { ConsoleSmsSender } from './console-sms-sender.js';
import { FileSmsSender } from './file-sms-sender.js';
import type { SmsSender } from './sms-sender.js';
import { TwilioSmsSender } from './twilio-sms-sender.js';
import { WebhookSmsSender } from './webhook-sms-sender.js';

/** The sender that the configuration names; `clock` dates what is signed. */
export function smsSenderFor(config: SmsConfig, clock: Clock): SmsSender {
  switch (config.sender) {
    case 'console':
      return new ConsoleSmsSender();
    case 'file':
      return new FileSmsSender(config.file);
    case 'webhook':
      return new WebhookSmsSender(config, clock);
    case 'twilio':
      return new TwilioSmsSender(config);
    default:
      return config satisfies never;
  }
}
