import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { Language } from '../../../pages/language.js';
import { oneTimePasswordMessage } from './one-time-password.js';
import { OtpLimits, type CountResult, type ReportedPercentage } from './otp-limits.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { SmsQueue } from './sms/sms-queue.js';

/** Maximum milliseconds between the statements of a message and the request to the gateway. */
const MAX_SEND_DELAY_MS = 50;

export interface PasswordMessage {
  challenge: OtpChallenge;
  password: string;
  language: Language;
  /** Whether the browser signed in with the phone before. */
  isTrusted: boolean;
}

/** Sends one-time passwords in the background, so that response times do not reveal whether a phone has an account. */
@Injectable()
export class OtpDelivery {
  private readonly logger = new Logger(OtpDelivery.name);
  private readonly sent: Counter;
  private readonly failures: Counter;

  constructor(
    private readonly queue: SmsQueue,
    private readonly limits: OtpLimits,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
    { registry }: Metrics,
  ) {
    const registers = [registry];
    this.sent = new Counter({
      name: 'otp_messages_sent_total',
      help: 'One-time passwords that the gateway accepted.',
      registers,
    });
    this.failures = new Counter({
      name: 'otp_send_failures_total',
      help: 'One-time passwords that could not be sent, after all retries.',
      registers,
    });
  }

  /**
   * Sends the password if the phone belongs to a user. Otherwise it runs the same statements and sends nothing: a request that arrives
   * at the same time must not be slower for members. A failed message is refunded to the daily total only: the limits of the phone must
   * not depend on whether the phone has an account.
   * @param isStored whether the database has the challenge, which a later message replaces; if not, the message is dropped
   * @param options.isCertain whether the challenge is stored now, so that only retries check it
   */
  deliver(
    { challenge: { phone, userId, expiresAt }, password, language, isTrusted }: PasswordMessage,
    isStored: () => Promise<boolean>,
    { isCertain }: { isCertain: boolean },
  ): void {
    const isDecoy = userId === null;
    const text = oneTimePasswordMessage(password, language, this.config);
    let dailyTotal: CountResult | undefined;
    let mustCheck = !isCertain;
    this.queue.add({
      message: { id: randomUUID(), to: phone, text },
      expiresAt,
      shouldSend: async () => {
        if (mustCheck && !(await isStored())) return false;
        mustCheck = true;
        dailyTotal ??= await this.limits.countTowardsDailyTotal(isTrusted, isDecoy);
        const percentage = await this.limits.claimDailyTotalReport();
        if (percentage !== undefined) await this.reportDailyTotal(percentage);
        // The request to the gateway takes time, too, so it must not always meet the same one of the visitor's next requests.
        await sleep(randomInt(MAX_SEND_DELAY_MS));
        return dailyTotal.isCounted && !isDecoy;
      },
      onSent: () => this.sent.inc(),
      onFailure: async () => {
        if (isDecoy) return;
        this.failures.inc();
        await this.transactions.run(async (tx) => {
          if (dailyTotal?.isCounted) await this.limits.refund(tx, dailyTotal.counted);
          await this.audit.record(tx, 'otp.send_failed', userId, { actor: 'service' });
        });
      },
    });
  }

  private async reportDailyTotal(percentage: ReportedPercentage): Promise<void> {
    const limit = this.config.otp.dailyTotal;
    const used = `${percentage} % of the daily limit of ${limit} one-time passwords are used up`;
    const advice =
      'If real users requested them, raise OTP_DAILY_TOTAL. Otherwise limit OTP_COUNTRIES, and lower address-messages-per-hour in RATE_LIMITS.';
    if (percentage === 50) this.logger.warn(`${used}. ${advice}`);
    else
      this.logger.error(
        percentage === 80
          ? `${used}, so only browsers that signed in before get more. ${advice}`
          : `${used}, so sign-ins by phone are paused. ${advice}`,
      );
    const details = { limit, percentage };
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'otp.daily_total_reached', 'otp', { actor: 'service' }, details),
    );
  }
}
