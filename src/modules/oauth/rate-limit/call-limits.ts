import { Inject, Injectable, UseGuards } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { CallLimitStorage } from '../../../platform/http/call-limit-storage.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimiter } from './rate-limiter.js';
import { LIMITS, type RequestLimitName } from './rate-limits.js';
import { RequestKeys } from './request-keys.js';

/*
 * Limits of calls: Nest's ThrottlerGuard with a sliding window in memory.
 *
 * They protect the service from floods, so they must be cheap. They need the database only to recognize a trusted device beyond the
 * limit of its address. Each process counts separately and starts with empty windows. For limits against guessing, which processes
 * share in the database, see `failed-attempts.ts`.
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
      private readonly keys: RequestKeys,
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
      let state = await count(this.keys.of(request, by));
      // Beyond the limit of its network, a trusted device has the same limit alone, so that strangers cannot lock it out.
      const device = state.isBlocked ? await this.keys.trustedDevice(request, by) : undefined;
      if (device !== undefined) state = await count(device);
      if (state.isBlocked) {
        this.limiter.countRejected(name);
        throw new TooManyAttempts(state.timeToBlockExpire);
      }
      if (state.totalHits === limit)
        await this.limiter.recordCallsReached(name, this.keys.appDetails(request));
      return true;
    }
  }
  return UseGuards(CallLimitGuard);
}

/** Limits the refreshes of a grant, because each stores rows: a client that refreshes in a loop would fill the disk. */
@Injectable()
export class RefreshLimit {
  /** Separate from the windows of other limits, which those of many grants would displace. */
  private readonly storage: CallLimitStorage;

  constructor(
    private readonly limiter: RateLimiter,
    clock: Clock,
  ) {
    this.storage = new CallLimitStorage(clock);
  }

  /** Counts a refresh. Returns the error if the limit is exceeded. */
  async count(clientId: string, grantId: string): Promise<TooManyAttempts | undefined> {
    const { name, max, windowMs } = this.limiter.limits['grant-refreshes-per-hour'];
    if (max === 0) return undefined;
    const state = await this.storage.increment(grantId, windowMs, max);
    if (state.isBlocked) {
      this.limiter.countRejected(name);
      return new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits === max) await this.limiter.recordCallsReached(name, { clientId, grantId });
    return undefined;
  }
}
