import {
  applyDecorators,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { CallLimitStorage } from '../../../platform/http/call-limit-storage.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimitReporter } from './rate-limit-reporter.js';
import { callLimits, type RateLimit, type RateLimitGroup, refreshLimit } from './rate-limits.js';
import { RequestKeys } from './request-keys.js';
import { TrustedDevicesRepository } from './trusted-devices.repository.js';

/*
 * Limits of calls: Nest's ThrottlerGuard with a sliding window in memory.
 *
 * They protect the service from floods, so they must be cheap. They need the database only to recognize a trusted device on the pages
 * beyond the limit of its address. Each process counts separately and
 * starts with empty windows. For limits against guessing, which processes share in the database, see `failed-attempts.ts`.
 */

/** Limits the refreshes of a grant, because each stores rows: a client that refreshes in a loop would fill the disk. */
@Injectable()
export class RefreshLimit {
  private readonly limit: RateLimit;
  /** Separate from the windows of other limits, which those of many grants would displace. */
  private readonly storage: CallLimitStorage;

  constructor(
    config: AppConfig,
    clock: Clock,
    private readonly reporter: RateLimitReporter,
  ) {
    this.limit = refreshLimit(config);
    this.storage = new CallLimitStorage(clock);
  }

  /** Counts a refresh. Returns the error if the limit is exceeded. */
  async count(clientId: string, grantId: string): Promise<TooManyAttempts | undefined> {
    const { name, maxAttempts, windowMs } = this.limit;
    if (maxAttempts === 0) return undefined;
    const state = await this.storage.increment(grantId, windowMs, maxAttempts);
    if (state.isBlocked) {
      this.reporter.countRejected(name);
      return new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits === maxAttempts)
      await this.reporter.recordCallsReached(name, { clientId, grantId });
    return undefined;
  }
}

const PAGE_LIMITS_BY_ADDRESS = /^(authorize|decision)-calls-by-(address|network\d\d)$/;
const GROUP = 'oauth:rate-limit-group';

/** The group that `@LimitCalls` declares on the handler or its controller. */
export function rateLimitGroup(context: ExecutionContext): RateLimitGroup {
  const targets = [context.getHandler(), context.getClass()];
  const group = new Reflector().getAllAndOverride<RateLimitGroup | undefined>(GROUP, targets);
  if (group === undefined) throw new Error(`${context.getClass().name} has no @LimitCalls.`);
  return group;
}

/** Rejects calls beyond a limit. Each exception filter renders `TooManyAttempts` in its own format. */
@Injectable()
class CallLimitGuard extends ThrottlerGuard {
  constructor(
    // `@Inject` is explicit, because Nest would otherwise use the injection tokens of the base class.
    @Inject(AppConfig) config: AppConfig,
    @Inject(CallLimitStorage) storage: CallLimitStorage,
    reflector: Reflector,
    private readonly keys: RequestKeys,
    private readonly reporter: RateLimitReporter,
    private readonly devices: TrustedDevicesRepository,
  ) {
    const throttlers = callLimits(config).map((limit) => ({
      name: limit.name,
      limit: limit.maxAttempts,
      ttl: limit.windowMs,
      skipIf: (context: ExecutionContext) => rateLimitGroup(context) !== limit.group,
      getTracker: (request: object) => keys.of(request as Request, limit.countedBy),
    }));
    super(throttlers, storage, reflector);
  }

  /** Overridden because the base class sends its own headers and does not report rejections. @throws TooManyAttempts */
  protected override async handleRequest(call: ThrottlerRequest): Promise<boolean> {
    const { context, throttler, limit, ttl, blockDuration, getTracker } = call;
    const name = throttler.name ?? '';
    const request = context.switchToHttp().getRequest<Request>();
    const key = `${name}|${await getTracker(request, context)}`;
    let state = await this.storageService.increment(key, ttl, limit, blockDuration, name);
    const device = state.isBlocked ? await this.trustedDevice(request, name) : undefined;
    if (device !== undefined)
      state = await this.storageService.increment(`${name}|${device}`, ttl, limit, 0, name);
    if (state.isBlocked) {
      this.reporter.countRejected(name);
      throw new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits === limit)
      await this.reporter.recordCallsReached(name, this.keys.appDetails(request));
    return true;
  }

  /**
   * The hash of a browser in which somebody signed in before, if the exceeded limit is that of its address on the pages. Then the same
   * limit applies to the browser alone, so that strangers on the same network cannot lock it out.
   */
  private async trustedDevice(request: Request, limitName: string): Promise<string | undefined> {
    if (!PAGE_LIMITS_BY_ADDRESS.test(limitName)) return undefined;
    const { browserHash } = this.keys.visitor(request);
    const isTrusted = await this.devices.isTrustedBrowser(browserHash);
    return isTrusted ? browserHash : undefined;
  }
}

/** Enforces the limits of calls on a handler or controller. */
export const LimitCalls = (group: RateLimitGroup): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(GROUP, group), UseGuards(CallLimitGuard));
