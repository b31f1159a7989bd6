import {
  applyDecorators,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimitReporter } from './rate-limit-reporter.js';
import { callLimits, type RateLimit, type RateLimitGroup, refreshLimit } from './rate-limits.js';
import { RequestKeys } from './request-keys.js';

/*
 * Limits of calls: Nest's ThrottlerGuard with a sliding window in memory.
 *
 * They protect the service from floods, so they must be cheap and must not need the database. Each process counts separately and
 * starts with empty windows. For limits against guessing, which processes share in the database, see `failed-attempts.ts`.
 */

/** Slots per window, to save memory. A slot that is partly outside the window still counts. */
const SLOTS = 60;

/** Beyond this number, the least recently used window is dropped. Bounds the memory during a flood from many addresses. */
const MAX_KEYS = 10_000;

interface Slot {
  /** Index of the slot, counted from 1970. */
  index: number;
  calls: number;
}

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Sliding windows in the memory of this process. Rejected calls do not count. */
@Injectable()
export class CallLimitStorage implements ThrottlerStorage {
  /** By key, least recently used first. */
  private readonly windows = new Map<string, Slot[]>();

  constructor(private readonly clock: Clock) {}

  /** @param ttl length of the window in milliseconds */
  async increment(key: string, ttl: number, limit: number): Promise<StorageRecord> {
    const slotMs = Math.ceil(ttl / SLOTS);
    const now = this.clock.now().getTime();
    const currentIndex = Math.floor(now / slotMs);
    const oldestIndex = currentIndex - SLOTS;
    const slots = (this.windows.get(key) ?? []).filter(({ index }) => index >= oldestIndex);
    const calls = slots.reduce((sum, slot) => sum + slot.calls, 0);
    const isBlocked = calls >= limit;
    const last = slots.at(-1);
    if (!isBlocked && last?.index === currentIndex) last.calls += 1;
    else if (!isBlocked) slots.push({ index: currentIndex, calls: 1 });
    this.windows.delete(key);
    this.windows.set(key, slots);
    const [leastRecent] = this.windows.keys();
    if (this.windows.size > MAX_KEYS && leastRecent !== undefined) this.windows.delete(leastRecent);
    const firstIndex = slots[0]?.index ?? currentIndex;
    const firstLeavesAt = (firstIndex + SLOTS + 1) * slotMs;
    const seconds = Math.max(1, Math.ceil((firstLeavesAt - now) / SECOND));
    return {
      totalHits: isBlocked ? calls : calls + 1,
      timeToExpire: seconds,
      isBlocked,
      timeToBlockExpire: isBlocked ? seconds : 0,
    };
  }
}

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
    const state = await this.storageService.increment(key, ttl, limit, blockDuration, name);
    if (state.isBlocked) {
      this.reporter.countRejected(name);
      throw new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits === limit)
      await this.reporter.recordCallsReached(name, this.keys.appDetails(request));
    return true;
  }
}

/** Enforces the limits of calls on a handler or controller. */
export const LimitCalls = (group: RateLimitGroup): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(GROUP, group), UseGuards(CallLimitGuard));
