/**
 * The one source of time. Nothing else reads the system clock for a value that is stored or compared,
 * so a test moves every lifetime, month and window at once.
 */
export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The moment `milliseconds` after `time`; negative values go back. */
export function later(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds);
}

/** The first moment of the UTC hour or day that `time` is in; `unit` is `HOUR` or `DAY`. */
export function startOf(time: Date, unit: number): Date {
  return new Date(Math.floor(time.getTime() / unit) * unit);
}

/** Whole seconds from `from` to `to`, rounded up and never below 1: the value of a `Retry-After`. */
export function secondsUntil(to: Date, from: Date): number {
  return Math.max(1, Math.ceil((to.getTime() - from.getTime()) / SECOND));
}
