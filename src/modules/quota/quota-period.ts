import { secondsUntil } from '../../platform/clock.js';
import { rateLimitHeaders } from '../../platform/http/developer-api.js';

/** A UTC calendar month, such as `2026-11`. */
export type Period = string;

/** The UTC day, such as `2026-11-21`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 'yyyy-mm-dd'.length);
}

export function periodOf(time: Date): Period {
  return time.toISOString().slice(0, 7);
}

export function periodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

export function nextPeriodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
}

/** The start of the month (inclusive) and of the next month (exclusive). */
export function rangeOf(period: Period): { from: Date; to: Date } {
  const from = new Date(`${period}-01T00:00:00.000Z`);
  return { from, to: nextPeriodStart(from) };
}

/** The RateLimit headers for the month of `now`. Returns none if the limit is null. */
export function postsMonthHeaders(
  { limit, remaining }: { limit: number | null; remaining: number | null },
  now: Date,
): Record<string, string> {
  if (limit === null || remaining === null) return {};
  const resetsAt = nextPeriodStart(now);
  return rateLimitHeaders({
    policy: 'posts-month',
    quota: limit,
    windowSeconds: secondsUntil(resetsAt, periodStart(now)),
    remaining,
    resetSeconds: secondsUntil(resetsAt, now),
  });
}
