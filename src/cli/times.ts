import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.js';

/** From the largest unit to the smallest. Months and years have their average length. */
const UNITS: readonly [name: string, milliseconds: number, plural: string][] = [
  ['year', 365.25 * DAY, 'years'],
  ['month', 30.4375 * DAY, 'months'],
  ['day', DAY, 'days'],
  ['h', HOUR, 'h'],
  ['min', MINUTE, 'min'],
  ['s', SECOND, 's'],
];

/** The distance to a time in its largest unit, rounded down: `3 min ago`, `in 2 days`, or `now` within a second. */
export function relativeTime(time: Date, now: Date): string {
  const distance = Math.abs(time.getTime() - now.getTime());
  for (const [name, milliseconds, plural] of UNITS) {
    const count = Math.floor(distance / milliseconds);
    if (count === 0) continue;
    const amount = `${count} ${count === 1 ? name : plural}`;
    return time < now ? `${amount} ago` : `in ${amount}`;
  }
  return 'now';
}

/** A time for a person at a terminal: UTC to the second, and how long ago, such as `2026-11-20T09:30:00Z (3 min ago)`. */
export function terminalTime(time: Date, now: Date): string {
  const seconds = time.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
  return `${seconds}Z (${relativeTime(time, now)})`;
}
