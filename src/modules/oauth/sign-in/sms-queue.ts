import { setImmediate as turn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { SmsSender, type TextMessage } from './sms/sms-sender.js';

/** Sends messages beside the request, so that its time does not tell whether there was one to send. */
@Injectable()
export class SmsQueue implements OnApplicationShutdown {
  private readonly logger = new Logger(SmsQueue.name);
  private readonly sending = new Set<Promise<void>>();

  constructor(private readonly sender: SmsSender) {}

  add(message: TextMessage): void {
    const sent = this.send(message).finally(() => this.sending.delete(sent));
    this.sending.add(sent);
  }

  /** After the last open request, which may have added a message. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.sending);
  }

  private async send(message: TextMessage): Promise<void> {
    await turn();
    try {
      await this.sender.send(message);
    } catch (error) {
      this.logger.error(`A one-time password could not be sent: ${(error as Error).message}`);
    }
  }
}
