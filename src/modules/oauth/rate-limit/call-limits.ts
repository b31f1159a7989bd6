import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock, SECOND } from '../../../platform/clock.js';
import type { AppConfig } from '../../../platform/config/app-config.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { callLimits, type LimitedRoutes } from './rate-limits.js';
import { RateLimitReport } from './rate-limit-report.js';
import { RequestKeys } from './request-keys.js';

/*
 * Limits of calls: Nest's ThrottlerGuard with a sliding window in memory.
 *
 * They protect the service from floods, so they must cost next to nothing and need no database: each process counts for
 * itself and starts with empty windows. Limits that keep a guesser slow are shared rows: see `failed-attempts.ts`.
 */

/** A window is divided into slots, so it costs little memory; the slot that is just leaving still counts. */
const SLOTS = 60;

/** Beyond these, the window that was used least recently is dropped: memory stays bounded, whatever addresses a flood has. */
const MAX_KEYS = 10_000;

interface Slot {
  /** The time of its start, in slots since 1970. */
  number: number;
  calls: number;
}

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Sliding windows in the memory of this process. A call that is refused does not count. */
@Injectable()
export class CallLimitStorage implements ThrottlerStorage {
  /** By key, the least recently used first. */
  private readonly windows = new Map<string, Slot[]>();

  constructor(private readonly clock: Clock) {}

  /** @param ttl length of the window in milliseconds */
  async increment(key: string, ttl: number, limit: number): Promise<StorageRecord> {
    const slotMs = Math.ceil(ttl / SLOTS);
    const now = this.clock.now().getTime();
    const number = Math.floor(now / slotMs);
    const slots = (this.windows.get(key) ?? []).filter((slot) => slot.number >= number - SLOTS);
    const calls = slots.reduce((sum, slot) => sum + slot.calls, 0);
    const isBlocked = calls >= limit;
    if (!isBlocked) countIn(slots, number);
    this.store(key, slots);
    const [oldest] = slots;
    const endsAt = ((oldest?.number ?? number) + SLOTS + 1) * slotMs;
    const seconds = Math.max(1, Math.ceil((endsAt - now) / SECOND));
    return {
      totalHits: isBlocked ? calls : calls + 1,
      timeToExpire: seconds,
      isBlocked,
      timeToBlockExpire: isBlocked ? seconds : 0,
    };
  }

  private store(key: string, slots: Slot[]): void {
    this.windows.delete(key);
    this.windows.set(key, slots);
    const [leastRecent] = this.windows.keys();
    if (this.windows.size > MAX_KEYS && leastRecent !== undefined) this.windows.delete(leastRecent);
  }
}

function countIn(slots: Slot[], number: number): void {
  const last = slots.at(-1);
  if (last?.number === number) last.calls += 1;
  else slots.push({ number, calls: 1 });
}

const ROUTES = 'oauth:limited-routes';

/** The routes whose limits hold for a handler, by its `@LimitedAs`. */
export function limitedRoutes(context: ExecutionContext): LimitedRoutes {
  const targets = [context.getHandler(), context.getClass()];
  const routes = new Reflector().getAllAndOverride<LimitedRoutes | undefined>(ROUTES, targets);
  if (routes === undefined) throw new Error(`${context.getClass().name} has no @LimitedAs.`);
  return routes;
}

/** Names the limits of a controller or handler. The guards that enforce them are listed beside it, in their order. */
export const LimitedAs = (routes: LimitedRoutes): MethodDecorator & ClassDecorator =>
  SetMetadata(ROUTES, routes);

/** Refuses calls beyond a limit with `TooManyAttempts`, which each filter returns in its own shape. */
@Injectable()
export class CallLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly keys: RequestKeys,
    private readonly report: RateLimitReport,
  ) {
    super(options, storage, reflector);
  }

  /** The base class sends headers of its own form and cannot report. @throws TooManyAttempts */
  protected override async handleRequest(call: ThrottlerRequest): Promise<boolean> {
    const { context, throttler, limit, ttl, blockDuration, getTracker, generateKey } = call;
    const name = throttler.name ?? '';
    const request = context.switchToHttp().getRequest<Request>();
    const key = generateKey(context, await getTracker(request, context), name);
    const state = await this.storageService.increment(key, ttl, limit, blockDuration, name);
    if (state.isBlocked) {
      this.report.refused(name);
      throw new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits === limit)
      await this.report.callsReached(name, this.keys.exceededBy(request));
    return true;
  }
}

/** Enforces the limits of calls on a handler. */
export const LimitCalls = (routes: LimitedRoutes): MethodDecorator & ClassDecorator =>
  applyDecorators(LimitedAs(routes), UseGuards(CallLimitGuard));

/** The options of Nest's ThrottlerModule: a throttler for each limit of calls. */
export function throttlerOptions(
  config: AppConfig,
  storage: ThrottlerStorage,
  keys: RequestKeys,
): ThrottlerModuleOptions {
  const throttlers = callLimits(config).map(({ name, limit, windowMs, routes, by }) => ({
    name,
    limit,
    ttl: windowMs,
    skipIf: (context: ExecutionContext) => limitedRoutes(context) !== routes,
    getTracker: (request: Record<string, unknown>) => keys.of(request as unknown as Request, by),
    generateKey: (_context: ExecutionContext, tracker: string) => `${name}|${tracker}`,
  }));
  return { storage, throttlers };
}
