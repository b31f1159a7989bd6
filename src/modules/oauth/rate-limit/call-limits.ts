import { Inject, Injectable, UseGuards } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { CallLimitStorage } from '../../../platform/http/call-limit-storage.js';
import type { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimiter, type AppDetails } from './rate-limiter.js';
import { LIMITS, type RequestLimitName } from './rate-limits.js';
import { RequestLimits } from './request-limits.js';

/*
 * Limits of calls: Nest's ThrottlerGuard with a sliding window in memory.
 *
 * They protect the service from floods, so they must be cheap. They need the database only to recognize a trusted device beyond the
 * limit of its address. Each process counts separately and starts with empty windows. For limits against guessing, which processes
 * share in the database, see `request-limits.ts`.
 */

/** Limits the calls of a handler or controller. Each exception filter renders `TooManyAttempts` in its own format. */
export function LimitCalls(
  ...names: readonly RequestLimitName[]
): MethodDecorator & ClassDecorator {
  @Injectable()
  class CallLimitGuard extends ThrottlerGuard {
    constructor(
      // `@Inject` is explicit, because Nest would otherwise use the injection tokens of the base class.
      @Inject(RateLimiter) private readonly limiter: RateLimiter,
      @Inject(CallLimitStorage) storage: CallLimitStorage,
      reflector: Reflector,
      private readonly requests: RequestLimits,
    ) {
      const throttlers = names.map((name) => {
        const { max, windowMs } = limiter.limits[name];
        return { name, limit: max, ttl: windowMs, skipIf: () => max === 0 };
      });
      super(throttlers, storage, reflector);
    }

    /** Overridden because the base class sends its own headers and does not report rejections. @throws TooManyAttempts */
    protected override async handleRequest(call: ThrottlerRequest): Promise<boolean> {
      const { context, throttler, limit, ttl } = call;
      const name = throttler.name as RequestLimitName;
      const [, by] = LIMITS[name];
      const request = context.switchToHttp().getRequest<Request>();
      const count = (key: string) =>
        this.storageService.increment(`${name}|${key}`, ttl, limit, 0, name);
      let state = await count(this.requests.keyOf(request, by));
      // Beyond the limit of its network, a trusted device has the same limit alone, so that strangers cannot lock it out.
      const device = state.isBlocked ? await this.requests.trustedDevice(request, by) : undefined;
      if (device !== undefined) state = await count(device);
      const app = (): AppDetails => this.requests.appDetails(request);
      const rejection = await this.limiter.rejectionOf(this.limiter.limits[name], state, app);
      if (rejection) throw rejection;
      return true;
    }
  }
  return UseGuards(CallLimitGuard);
}

/**
 * Limits the refreshes of an app for a user, because each stores rows: a client that refreshes in a loop would fill the disk. Not of a
 * grant, because a user may have several to an app.
 */
@Injectable()
export class RefreshLimit {
  /** Separate from the windows of other limits, which those of many users would displace. */
  private readonly storage: CallLimitStorage;

  constructor(
    private readonly limiter: RateLimiter,
    clock: Clock,
  ) {
    this.storage = new CallLimitStorage(clock);
  }

  /** Counts a refresh. Returns the error if the limit is exceeded. */
  async count(grant: {
    clientId: string;
    userId: string;
    grantId: string;
  }): Promise<TooManyAttempts | undefined> {
    const limit = this.limiter.limits['grant-refreshes-per-hour'];
    if (limit.max === 0) return undefined;
    const { clientId, userId, grantId } = grant;
    const key = `${clientId}|${userId}`;
    const state = await this.storage.increment(key, limit.windowMs, limit.max);
    return this.limiter.rejectionOf(limit, state, () => ({ clientId, userId, grantId }));
  }
}
