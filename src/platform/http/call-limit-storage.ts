import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../clock.js';
import { lastExpiredSlot, secondsUntilExpiry, slotOf } from '../sliding-window.js';

/** Beyond this number, the least recently used window is dropped. Bounds the memory during a flood from many addresses. */
const MAX_KEYS = 10_000;

interface Slot {
  /** Milliseconds, by the monotonic clock. */
  start: number;
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
    const now = this.clock.monotonic();
    const current = slotOf(now, ttl).getTime();
    const expired = lastExpiredSlot(now, ttl).getTime();
    const slots = (this.windows.get(key) ?? []).filter(({ start }) => start > expired);
    const calls = slots.reduce((sum, slot) => sum + slot.calls, 0);
    const isBlocked = calls >= limit;
    const last = slots.at(-1);
    if (!isBlocked && last?.start === current) last.calls += 1;
    else if (!isBlocked) slots.push({ start: current, calls: 1 });
    this.windows.delete(key);
    this.windows.set(key, slots);
    const [leastRecent] = this.windows.keys();
    if (this.windows.size > MAX_KEYS && leastRecent !== undefined) this.windows.delete(leastRecent);
    const seconds = secondsUntilExpiry(new Date(slots[0]?.start ?? current), ttl, now);
    return {
      totalHits: isBlocked ? calls : calls + 1,
      timeToExpire: seconds,
      isBlocked,
      timeToBlockExpire: isBlocked ? seconds : 0,
    };
  }
}
