import { Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { withDeadline } from '../../../platform/request-context.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { rateLimitGroup } from './call-limits.js';
import { failureLimits, type RateLimitGroup, type RequestLimit } from './rate-limits.js';
import { RateLimitReporter } from './rate-limit-reporter.js';
import { RequestKeys } from './request-keys.js';
import { TrustedDevicesRepository } from './trusted-devices.repository.js';
import { SlidingWindowCounter } from './sliding-window-counter.js';

/**
 * Limits of failed attempts, which slow down guessing. All processes share the counts in the database. A form of the pages reads
 * them first; a request of an app reads them only if it fails, because it may prove itself. Both write them only if they fail.
 *
 * If the database is unavailable, the endpoints for apps continue without these limits: they cannot issue tokens then, and some apps
 * delete their tokens when a request is rejected. The pages respond with 503. Any other error is a bug and is thrown.
 */
@Injectable()
export class FailedAttempts {
  private readonly logger = new Logger(FailedAttempts.name);
  private readonly limits: readonly RequestLimit[];

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly keys: RequestKeys,
    private readonly reporter: RateLimitReporter,
    private readonly devices: TrustedDevicesRepository,
    config: AppConfig,
  ) {
    this.limits = failureLimits(config);
  }

  /**
   * Rejects a request that exceeds a limit. Uses one SELECT for all keys.
   * @throws TooManyAttempts
   */
  async check(request: Request, group: RateLimitGroup): Promise<void> {
    const limits = this.limitsOf(group);
    try {
      const states = await Promise.all(
        limits.map((limit) => this.counter.peek(limit, this.keys.of(request, limit.countedBy))),
      );
      for (const [index, { exceeded, retryAfterSeconds }] of states.entries()) {
        if (!exceeded || (await this.isExempt(request, limits[index]))) continue;
        this.reporter.countRejected(limits[index]?.name ?? '');
        throw new TooManyAttempts(retryAfterSeconds);
      }
    } catch (error) {
      if (!mayContinueWithoutLimits(error, group)) throw error;
      this.logger.error(`Could not read the failed attempts: ${(error as Error).message}`);
    }
  }

  /** Records a failed attempt. */
  async record(request: Request, group: RateLimitGroup): Promise<void> {
    try {
      const app = this.keys.appDetails(request);
      // A new deadline, because that of the request may have passed.
      await withDeadline(async () => {
        for (const limit of this.limitsOf(group))
          if (!(await this.isExempt(request, limit)))
            await this.counter.add(limit, this.keys.of(request, limit.countedBy), (tx) =>
              this.reporter.recordReached(tx, limit.name, app),
            );
      });
    } catch (error) {
      if (!mayContinueWithoutLimits(error, group)) throw error;
      this.logger.error(`Could not record a failed attempt: ${(error as Error).message}`);
    }
  }

  /**
   * Whether the limit does not apply: that of an address on the pages does not apply to a browser in which somebody signed in before,
   * so that strangers on the same network cannot lock it out. The limit of the browser applies.
   */
  private async isExempt(
    request: Request,
    limit: Pick<RequestLimit, 'group' | 'countedBy'> | undefined,
  ): Promise<boolean> {
    if (limit?.group !== 'decision' || limit.countedBy !== 'address') return false;
    const { browserHash } = this.keys.visitor(request);
    return this.devices.isTrustedBrowser(browserHash);
  }

  private limitsOf(group: RateLimitGroup): RequestLimit[] {
    return this.limits.filter((limit) => limit.group === group);
  }
}

function mayContinueWithoutLimits(error: unknown, group: RateLimitGroup): boolean {
  const isClientEndpoint = group !== 'authorize' && group !== 'decision';
  return isClientEndpoint && isDatabaseUnavailable(error);
}

/** Checks the limits of failed attempts before the body of a form is read. */
@Injectable()
export class FailedAttemptsGuard implements CanActivate {
  constructor(private readonly attempts: FailedAttempts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    await this.attempts.check(request, rateLimitGroup(context));
    return true;
  }
}
