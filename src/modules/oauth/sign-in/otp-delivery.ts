import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { Language } from '../../../pages/language.js';
import { oneTimePasswordMessage } from './one-time-password.js';
import { OtpLimits, type Take, type Taken } from './otp-limits.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { SmsQueue } from './sms/sms-queue.js';

/** The password of a challenge, and the language of its message. */
export interface PasswordMessage {
  challenge: OtpChallenge;
  password: string;
  language: Language;
}

/** Brings one-time passwords to phones, beside the request that asked for them. */
@Injectable()
export class OtpDelivery {
  private readonly logger = new Logger(OtpDelivery.name);

  constructor(
    private readonly queue: SmsQueue,
    private readonly limits: OtpLimits,
    private readonly audit: AuditLog,
    private readonly metrics: Metrics,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends the password of the challenge, if anybody has its phone. When that fails for good, `taken` is given back, for any
   * phone, so that the user may ask again.
   * @param isStored whether there is a challenge and something taken: nothing is sent or given back otherwise
   */
  deliver(
    { challenge: { phone, userId, expiresAt }, password, language }: PasswordMessage,
    taken: Taken,
    isStored: () => Promise<boolean> = async () => true,
  ): void {
    if (userId === null) {
      const failed = async (): Promise<void> => {
        if (await isStored()) await this.giveBack(taken);
      };
      this.queue.add({ message: null, expiresAt, admit: isStored, failed });
      return;
    }
    const text = oneTimePasswordMessage(password, language, this.config);
    let total: Take | undefined;
    // When the last message of the day just went to somebody else, this one is dropped and nothing is given back: from then on
    // everybody is asked to wait, whose phone it may be.
    const admit = async (): Promise<boolean> => {
      if (!(await isStored())) return false;
      total ??= await this.limits.takeTotal();
      if (await this.limits.totalWasReached()) await this.ringAlarm();
      return 'attempts' in total;
    };
    this.queue.add({
      message: { id: randomUUID(), to: phone, text },
      expiresAt,
      admit,
      failed: async () => {
        this.metrics.otpSendFailures.inc();
        if (await isStored())
          await this.failed(userId, total && 'attempts' in total ? [taken, total] : [taken]);
      },
    });
  }

  private async ringAlarm(): Promise<void> {
    const limit = this.config.otp.dailyTotal;
    this.logger.error(
      `All ${limit} one-time passwords of the day are sent, and nobody gets another one for now. If these were real users, raise OTP_DAILY_TOTAL.`,
    );
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'otp.daily_total_reached', 'otp', { actor: 'service' }, { limit }),
    );
  }

  private giveBack(taken: Taken): Promise<void> {
    return this.transactions.run((tx) => this.limits.giveBack(tx, taken));
  }

  private async failed(userId: string, spent: readonly Taken[]): Promise<void> {
    for (const taken of spent) await this.giveBack(taken);
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'otp.send_failed', userId, { actor: 'service' }),
    );
  }
}
