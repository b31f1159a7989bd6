/**
 * The source of all times that are stored or compared, so that tests can set the time. All processes of a service use the clock of the
 * database server: that of a machine may differ, or be corrected at any time.
 */
export abstract class Clock {
  /** Milliseconds by which the machine is ahead of the database server, as last measured (clock-skew.ts); 0 on SQLite. */
  skewMs = 0;

  now(): Date {
    return new Date(this.machineTime() - this.skewMs);
  }

  /** The clock of the machine, in milliseconds since 1970. */
  abstract machineTime(): number;

  /** A time that never steps back, to compare with other times of this process only. */
  abstract monotonic(): Date;
}

export class SystemClock extends Clock {
  override machineTime(): number {
    return Date.now();
  }

  override monotonic(): Date {
    return new Date(performance.timeOrigin + performance.now());
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
