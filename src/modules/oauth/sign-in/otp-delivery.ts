import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { Language } from '../../../pages/language.js';
import { oneTimePasswordMessage } from './one-time-password.js';
import { OtpLimits, type CountResult } from './otp-limits.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { SmsQueue } from './sms/sms-queue.js';

export interface PasswordMessage {
  challenge: OtpChallenge;
  password: string;
  language: Language;
}

/** Sends one-time passwords in the background, so that response times do not reveal whether a phone has an account. */
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
   * Sends the password if the phone belongs to a user. A failed message is refunded to the daily total only: the limits of the phone
   * must not depend on whether the phone has an account.
   * @param isStored whether the database has the challenge; if not, the message is dropped
   */
  deliver(
    { challenge: { phone, userId, expiresAt }, password, language }: PasswordMessage,
    isStored: () => Promise<boolean> = async () => true,
  ): void {
    if (userId === null) return;
    const text = oneTimePasswordMessage(password, language, this.config);
    let dailyTotal: CountResult | undefined;
    this.queue.add({
      message: { id: randomUUID(), to: phone, text },
      expiresAt,
      shouldSend: async () => {
        if (!(await isStored())) return false;
        dailyTotal ??= await this.limits.countTowardsDailyTotal();
        if (await this.limits.claimDailyTotalReport()) await this.reportDailyTotalReached();
        return dailyTotal.isCounted;
      },
      onFailure: async () => {
        this.metrics.otpSendFailures.inc();
        await this.transactions.run(async (tx) => {
          if (dailyTotal?.isCounted) await this.limits.refund(tx, dailyTotal.counted);
          await this.audit.record(tx, 'otp.send_failed', userId, { actor: 'service' });
        });
      },
    });
  }

  private async reportDailyTotalReached(): Promise<void> {
    const limit = this.config.otp.dailyTotal;
    this.logger.error(
      `The daily limit of ${limit} one-time passwords is reached, so sign-ins by phone are paused. If real users requested them, raise OTP_DAILY_TOTAL.`,
    );
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'otp.daily_total_reached', 'otp', { actor: 'service' }, { limit }),
    );
  }
}
