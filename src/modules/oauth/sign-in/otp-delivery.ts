import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { HOUR, DAY } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics, registerStoredGauge } from '../../../platform/observability/metrics.js';
import type { Language } from '../../../pages/language.js';
import { currentRequest } from '../../../platform/request-context.js';
import { callingCodeOf, countryOf } from '../../users/phone-number.js';
import { RateLimiter, type CountResult, type RateLimitState } from '../rate-limit/rate-limiter.js';
import type { RateLimit } from '../rate-limit/rate-limits.js';
import { signInDetails } from './phone-limits.js';
import type { OtpChallenge, OtpResult } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';
import { oneTimePasswordMessage } from './sms/one-time-password-message.js';
import { SmsQueue } from './sms/sms-queue.js';
import { GatewayError } from './sms/sms-senders.js';

/** Maximum milliseconds between the statements of a message and the request to the gateway. */
const MAX_SEND_DELAY_MS = 50;
/** The part of the daily total that is left to trusted devices, so that strangers cannot stop every sign-in. */
export const RESERVED_FOR_TRUSTED_DEVICES = 0.2;
/** The parts of the daily total, in percent, that are reported. */
const REPORTED_PERCENTAGES = [100, 80, 50] as const;
/** The key of messages to all phones together. */
const GLOBAL_KEY = '';
/** The key of messages to numbers without an account. No limit depends on it. */
const DECOY_KEY = 'decoy';

export interface PasswordMessage {
  challenge: OtpChallenge;
  /** The user who gets the message. Null if nobody does. */
  recipientId: string | null;
  password: string;
  language: Language;
  /** The app that the sign-in is for. */
  appName?: string;
  /** Whether the browser signed in with the phone before. */
  isTrusted: boolean;
}

/** Sends one-time passwords in the background, so that response times do not reveal whether a phone has an account. */
@Injectable()
export class OtpDelivery {
  private readonly logger = new Logger(OtpDelivery.name);
  private readonly sent: Counter;
  private readonly failures: Counter;
  private readonly failureCodes: Counter<'code'>;
  private readonly requests: Counter<'calling_code' | 'result'>;

  constructor(
    private readonly queue: SmsQueue,
    private readonly limiter: RateLimiter,
    private readonly repository: SignInRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    this.sent = metrics.counter(
      'otp_messages_sent_total',
      'One-time passwords that the gateway accepted.',
    );
    this.failures = metrics.counter(
      'otp_send_failures_total',
      'One-time passwords that could not be sent, after all retries.',
    );
    this.failureCodes = metrics.counter(
      'otp_send_failure_codes_total',
      'One-time passwords that could not be sent, by the code of Twilio, else the status of the gateway, timeout, connection or other.',
      'code',
    );
    this.requests = metrics.counter(
      'otp_requests_total',
      'Requested one-time passwords, by calling code and result: sent, failed, or no_account (no message).',
      'calling_code',
      'result',
    );
    const paused = {
      name: 'otp_paused',
      help: '1 while an operator pauses all one-time passwords (otp pause), else 0.',
      labelNames: [],
    };
    registerStoredGauge(metrics.registry, paused, async () => [
      { labels: {}, value: Number(await this.repository.isPaused()) },
    ]);
    if (config.otp.dailyTotal > 0) this.registerGauges(metrics);
  }

  /** The state of the daily limit of messages to all phones. `deliver` counts the messages. */
  async peekDailyTotal(isTrusted: boolean): Promise<RateLimitState> {
    const limit = this.dailyTotal(isTrusted);
    const state = await this.limiter.peek({ limit, key: GLOBAL_KEY });
    if (state.exceeded) this.limiter.countRejected(limit.name);
    return state;
  }

  /**
   * Sends the password if somebody gets it. Otherwise it runs the same statements and sends nothing: a request that arrives
   * at the same time must not be slower for members. A failed message is refunded to the daily total only: the limits of the phone must
   * not depend on whether the phone has an account.
   * A message whose challenge is not stored is dropped: a later message replaced it.
   * @param options.isStored whether the challenge is stored for certain, so that only retries check it
   */
  deliver(
    { challenge, recipientId, password, language, appName, isTrusted }: PasswordMessage,
    { isStored }: { isStored: boolean },
  ): void {
    const { phone, expiresAt } = challenge;
    const isDecoy = recipientId === null;
    const countKey = countKeyOf(challenge);
    const countRequest = (result: OtpResult): void =>
      this.requests.inc({ calling_code: callingCodeOf(phone), result });
    const text = oneTimePasswordMessage(password, language, this.config, appName);
    let dailyTotal: CountResult | undefined;
    let mustCheck = !isStored;
    this.queue.add({
      message: { id: randomUUID(), to: phone, text },
      expiresAt,
      shouldSend: async () => {
        if (mustCheck && !(await this.isStored(challenge))) return false;
        mustCheck = true;
        if (await this.repository.isPaused()) return false;
        dailyTotal ??= await this.countMessage(challenge, recipientId, isTrusted);
        await this.reportDailyTotal();
        // The request to the gateway takes time, too, so it must not always meet the same one of the visitor's next requests.
        await sleep(randomInt(MAX_SEND_DELAY_MS));
        if (isDecoy) countRequest('no_account');
        return dailyTotal.isCounted && !isDecoy;
      },
      onSent: () => {
        this.sent.inc();
        countRequest('sent');
      },
      onFailure: async (error) => {
        if (isDecoy) return;
        const { details, metricCode } =
          error instanceof GatewayError ? error : { details: {}, metricCode: 'other' };
        this.failures.inc();
        this.failureCodes.inc({ code: metricCode });
        countRequest('failed');
        await this.transactions.run(async (tx) => {
          if (dailyTotal?.isCounted) {
            await this.limiter.refund(tx, dailyTotal.counted);
            await this.repository.count(tx, countKey, 'sent', -1);
          }
          await this.repository.count(tx, countKey, 'failed');
          await this.audit.record(
            tx,
            'otp.send_failed',
            recipientId,
            { actor: 'service' },
            details,
          );
        });
      },
    });
  }

  private isStored(challenge: OtpChallenge): Promise<boolean> {
    return this.transactions.run((tx) => this.repository.isStored(tx, challenge));
  }

  /** Strangers may use up a part of the total. Both parts have the same name, so they share one count. */
  private dailyTotal(isTrusted: boolean): RateLimit {
    const total = this.config.otp.dailyTotal;
    const max = isTrusted ? total : Math.ceil(total * (1 - RESERVED_FOR_TRUSTED_DEVICES));
    return { name: 'otp-daily-total', max, windowMs: DAY };
  }

  /** Counts and records a message, unless the daily limit is exceeded. A decoy runs the same statements. */
  private countMessage(
    challenge: OtpChallenge,
    recipientId: string | null,
    isTrusted: boolean,
  ): Promise<CountResult> {
    const isDecoy = recipientId === null;
    const limit = this.dailyTotal(isTrusted);
    const decoy = { ...limit, max: limit.max === 0 ? 0 : Infinity };
    const attempt = isDecoy ? { limit: decoy, key: DECOY_KEY } : { limit, key: GLOBAL_KEY };
    return this.transactions.run(async (tx) => {
      const result = await this.limiter.addAllIfAllowed(tx, [attempt]);
      if (!result.isCounted) return result;
      await this.repository.count(tx, countKeyOf(challenge), isDecoy ? 'no_account' : 'sent');
      await this.audit.recordOrDecoy(tx, 'otp.requested', recipientId, signInDetails(isTrusted));
      return result;
    });
  }

  private async messagesToday(): Promise<number> {
    const { count } = await this.limiter.peek({ limit: this.dailyTotal(true), key: GLOBAL_KEY });
    return count;
  }

  /** Reports that 50, 80 or 100 percent of the daily limit are used up: one process, once an hour for each percentage. */
  private async reportDailyTotal(): Promise<void> {
    const limit = this.config.otp.dailyTotal;
    if (limit === 0) return;
    const sent = await this.messagesToday();
    const percentage = REPORTED_PERCENTAGES.find((percent) => sent * 100 >= limit * percent);
    if (percentage === undefined) return;
    const alarm = { name: 'otp-daily-total-alarm', max: 1, windowMs: HOUR };
    const isFirst = await this.transactions.run(async (tx) => {
      if (!(await this.limiter.isFirst(tx, { limit: alarm, key: String(percentage) })))
        return false;
      const change = { actor: 'service' };
      await this.audit.record(tx, 'otp.daily_total_reached', 'otp', change, { limit, percentage });
      return true;
    });
    if (!isFirst) return;
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
  }

  private registerGauges(metrics: Metrics): void {
    const { dailyTotal } = this.config.otp;
    metrics.registerGauge(
      'otp_daily_total_limit',
      'Messages that may be sent to all phones in 24 hours (OTP_DAILY_TOTAL).',
      () => dailyTotal,
    );
    const remaining = {
      name: 'otp_daily_total_remaining',
      help: 'Messages that may still be sent to all phones now. The last fifth of the limit is left to trusted devices.',
      labelNames: [],
    };
    registerStoredGauge(metrics.registry, remaining, async () => [
      { labels: {}, value: Math.max(0, dailyTotal - (await this.messagesToday())) },
    ]);
  }
}

/** Where a one-time password is counted, for `otp report`: by the hour, the country and the app of its request. */
export function countKeyOf({ phone, createdAt }: Pick<OtpChallenge, 'phone' | 'createdAt'>): {
  requestedAt: Date;
  country: string;
  clientId: string;
} {
  return {
    requestedAt: createdAt,
    country: countryOf(phone) ?? '001',
    clientId: currentRequest()?.clientId ?? '',
  };
}
