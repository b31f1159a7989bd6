import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock, SECOND } from '../clock.js';

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
