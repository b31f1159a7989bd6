import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { Language } from '../../../pages/language.js';
import { oneTimePasswordMessage } from './one-time-password.js';
import { OtpLimits, type Take } from './otp-limits.js';
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
   * Sends the password of the challenge, if the phone belongs to a user. A message that cannot be sent is refunded to the total
   * of the day only: the limits of the phone hold, for users and strangers alike.
   * @param isStored whether the challenge was committed: nothing is sent otherwise
   */
  deliver(
    { challenge: { phone, userId, expiresAt }, password, language }: PasswordMessage,
    isStored: () => Promise<boolean> = async () => true,
  ): void {
    if (userId === null) return;
    let total: Take | undefined;
    this.queue.add({
      message: {
        id: randomUUID(),
        to: phone,
        text: oneTimePasswordMessage(password, language, this.config),
      },
      expiresAt,
      shouldSend: async () => {
        if (!(await isStored())) return false;
        total ??= await this.limits.takeTotal();
        if (await this.limits.totalWasReached()) await this.reportTotalReached();
        return 'attempts' in total;
      },
      failed: () => this.failed(userId, total),
    });
  }

  private async reportTotalReached(): Promise<void> {
    const limit = this.config.otp.dailyTotal;
    this.logger.error(
      `All ${limit} one-time passwords of the day are sent, and nobody gets another one for now. If these were real users, raise OTP_DAILY_TOTAL.`,
    );
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'otp.daily_total_reached', 'otp', { actor: 'service' }, { limit }),
    );
  }

  private async failed(userId: string, total: Take | undefined): Promise<void> {
    this.metrics.otpSendFailures.inc();
    await this.transactions.run(async (tx) => {
      if (total && 'attempts' in total) await this.limits.giveBack(tx, total);
      await this.audit.record(tx, 'otp.send_failed', userId, { actor: 'service' });
    });
  }
}
