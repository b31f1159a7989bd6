import type { Clock } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import { ConsoleSmsSender, FileSmsSender } from './local-sms-senders.js';
import type { SmsSender } from './sms-sender.js';
import { TwilioSmsSender, WebhookSmsSender } from './gateway-sms-senders.js';

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
