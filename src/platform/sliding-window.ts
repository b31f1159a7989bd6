import { addMilliseconds, floorTo, secondsUntil } from './clock.js';

/*
 * The sliding window of the rate limits. It counts attempts in slots, so that counting costs the same for any limit. A slot that is
 * partly outside the window still counts, so a window is never too short.
 */

const SLOTS_PER_WINDOW = 60;

/** The start of the slot that counts an attempt at `time`. */
export function slotOf(time: Date, windowMs: number): Date {
  return floorTo(time, windowMs / SLOTS_PER_WINDOW);
}

/** The start of the last slot that no longer counts. */
export function lastExpiredSlot(now: Date, windowMs: number): Date {
  return slotOf(addMilliseconds(now, -countedMs(windowMs)), windowMs);
}

/** Seconds until the slot no longer counts, at least 1. */
export function secondsUntilExpiry(slot: Date, windowMs: number, now: Date): number {
  return secondsUntil(addMilliseconds(slot, countedMs(windowMs)), now);
}

/** The time from the start of a slot until the whole slot has left the window. */
function countedMs(windowMs: number): number {
  return windowMs + windowMs / SLOTS_PER_WINDOW;
}
