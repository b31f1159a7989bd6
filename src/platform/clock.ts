/** The source of all times that are stored or compared, so that tests can set the time. */
export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/** Durations in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Adds milliseconds, which may be negative. */
export function addMilliseconds(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds);
}

/** Rounds a time down to a multiple of `unit` in UTC. The unit is a duration such as `HOUR` or `DAY`. */
export function floorTo(time: Date, unit: number): Date {
  return new Date(Math.floor(time.getTime() / unit) * unit);
}

/** Seconds from `from` to `to`, rounded up, at least 1: a value for `Retry-After`. */
export function secondsUntil(to: Date, from: Date): number {
  return Math.max(1, Math.ceil((to.getTime() - from.getTime()) / SECOND));
}
