import { SmsSender, type TextMessage } from './sms-sender.js';

/** Shows each message as one line on standard output. For development: it prints one-time passwords. */
export class ConsoleSmsSender extends SmsSender {
  override async send({ to, text }: TextMessage): Promise<void> {
    process.stdout.write(`SMS to ${to}: ${text.replace(/\s+/g, ' ')}\n`);
  }
}
