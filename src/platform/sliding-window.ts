import { addMilliseconds, floorTo, secondsUntil } from './clock.js';

/*
 * The sliding window of the rate limits. It counts attempts in slots, so that counting costs the same for any limit. All attempts of a
 * slot leave the window with the first of them, so no client waits longer than the window, and a window is at most one slot too short.
 */

const SLOTS_PER_WINDOW = 60;

/** The start of the slot that counts an attempt at `time`. */
export function slotOf(time: Date, windowMs: number): Date {
  return floorTo(time, windowMs / SLOTS_PER_WINDOW);
}

/** The start of the last slot that no longer counts. */
export function lastExpiredSlot(now: Date, windowMs: number): Date {
  return slotOf(addMilliseconds(now, -windowMs), windowMs);
}

/** Seconds until the slot no longer counts: at least 1, at most those of the window. */
export function secondsUntilExpiry(slot: Date, windowMs: number, now: Date): number {
  return secondsUntil(addMilliseconds(slot, windowMs), now);
}
