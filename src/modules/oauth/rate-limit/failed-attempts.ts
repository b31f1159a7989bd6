import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { withDeadline } from '../../../platform/request-context.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimiter, type Attempt } from './rate-limiter.js';
import { LIMITS, type RequestKey, type RequestLimitName } from './rate-limits.js';
import { RequestKeys } from './request-keys.js';

/** The limits of the failures of all forms. */
export const FORM_FAILURES: readonly RequestLimitName[] = [
  'decision-failures-by-browser',
  'decision-failures-by-address',
];

interface RequestAttempt extends Attempt {
  by: RequestKey;
}

/**
 * Limits of failed attempts, which slow down guessing. All processes share the counts in the database. A form of the pages reads
 * them first; a request of an app reads them only if it fails, because it may prove itself. Both write them only if they fail. Both
 * use a new deadline, because that of the request may have passed.
 */
@Injectable()
export class FailedAttempts {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly keys: RequestKeys,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Rejects a request that exceeds a limit. Uses one SELECT for all keys.
   * @throws TooManyAttempts
   */
  check(request: Request, limits: readonly RequestLimitName[]): Promise<void> {
    return withDeadline(async () => {
      for (const attempt of await this.limiter.peekAll(this.attempts(request, limits))) {
        if (!attempt.exceeded || (await this.isExempt(request, attempt))) continue;
        this.limiter.countRejected(attempt.limit.name);
        throw new TooManyAttempts(attempt.retryAfterSeconds);
      }
    });
  }

  /** Records a failed attempt. */
  record(request: Request, limits: readonly RequestLimitName[]): Promise<void> {
    return withDeadline(async () => {
      const counted: Attempt[] = [];
      for (const attempt of this.attempts(request, limits))
        if (!(await this.isExempt(request, attempt))) counted.push(attempt);
      if (counted.length === 0) return;
      const app = this.keys.appDetails(request);
      await this.transactions.run((tx) => this.limiter.add(tx, counted, app));
    });
  }

  private attempts(request: Request, names: readonly RequestLimitName[]): RequestAttempt[] {
    return names
      .map((name) => {
        const [, by] = LIMITS[name];
        return { limit: this.limiter.limits[name], by, key: this.keys.of(request, by) };
      })
      .filter(({ limit }) => limit.max > 0);
  }

  private async isExempt(request: Request, { by }: RequestAttempt): Promise<boolean> {
    return (await this.keys.trustedDevice(request, by)) !== undefined;
  }
}

/** Checks the limits of failed attempts before the body of a form is read. */
@Injectable()
export class FailedAttemptsGuard implements CanActivate {
  constructor(private readonly attempts: FailedAttempts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.attempts.check(context.switchToHttp().getRequest<Request>(), FORM_FAILURES);
    return true;
  }
}
