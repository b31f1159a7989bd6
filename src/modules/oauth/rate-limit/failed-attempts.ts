import { Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { withDeadline } from '../../../platform/request-context.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { limitedRoutes } from './call-limits.js';
import { failureLimits, type LimitedRoutes, type RequestLimit } from './rate-limits.js';
import { RateLimitReport } from './rate-limit-report.js';
import { RequestKeys } from './request-keys.js';
import { SlidingWindowCounter } from './sliding-window-counter.js';

/**
 * Limits of failed attempts, which slow down guessing. The attempts are rows that all processes share. They are read before each
 * request, and written only when one fails.
 */
@Injectable()
export class FailedAttempts {
  private readonly logger = new Logger(FailedAttempts.name);
  private readonly limits: readonly RequestLimit[];

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly keys: RequestKeys,
    private readonly report: RateLimitReport,
    config: AppConfig,
  ) {
    this.limits = failureLimits(config);
  }

  /**
   * Rejects a request that exceeds a limit, by one SELECT for all of its keys. When the database is unavailable, endpoints for
   * apps continue: they cannot issue anything then, and rejected apps would delete their tokens.
   * @throws TooManyAttempts
   */
  async check(request: Request, routes: LimitedRoutes): Promise<void> {
    const limits = this.limitsOf(routes);
    try {
      const states = await Promise.all(
        limits.map((limit) => this.counter.peek(limit, this.keys.of(request, limit.by))),
      );
      for (const [index, { exceeded, retryAfterSeconds }] of states.entries()) {
        if (!exceeded) continue;
        this.report.refused(limits[index]?.name ?? '');
        throw new TooManyAttempts(retryAfterSeconds);
      }
    } catch (error) {
      const isForApps = routes !== 'authorize' && routes !== 'decision';
      if (!isForApps || !isDatabaseUnavailable(error)) throw error;
      this.logger.error(`Failed attempts could not be read: ${(error as Error).message}`);
    }
  }

  /** Records a failed attempt. Never throws: exception filters call it. */
  async record(request: Request, routes: LimitedRoutes): Promise<void> {
    try {
      const by = this.keys.exceededBy(request);
      // The request may have used up its own deadline.
      await withDeadline(async () => {
        for (const limit of this.limitsOf(routes))
          await this.counter.add(limit, this.keys.of(request, limit.by), (tx) =>
            this.report.reached(tx, limit.name, by),
          );
      });
    } catch (error) {
      this.logger.error('A failed attempt could not be recorded.', (error as Error).stack);
    }
  }

  private limitsOf(routes: LimitedRoutes): RequestLimit[] {
    return this.limits.filter((limit) => limit.routes === routes);
  }
}

/** Checks the limits of failed attempts before a form of our pages is read. */
@Injectable()
export class FailedAttemptsGuard implements CanActivate {
  constructor(private readonly attempts: FailedAttempts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    await this.attempts.check(request, limitedRoutes(context));
    return true;
  }
}
