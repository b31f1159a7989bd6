import { secondsUntil } from '../../platform/clock.js';
import { rateLimitHeaders } from '../../platform/http/developer-api.js';

/** A UTC calendar month, written `2026-11`: the unit in which publishing is metered. */
export type Period = string;

export function periodOf(time: Date): Period {
  return time.toISOString().slice(0, 7);
}

/** The first moment of the month that `time` is in. */
export function periodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** The first moment of the month after the one that `time` is in. */
export function nextPeriodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
}

export function previousPeriod(time: Date): Period {
  return periodOf(new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() - 1)));
}

/** The first moments of a month and of the one after it. */
export function rangeOf(period: Period): { from: Date; to: Date } {
  const from = new Date(`${period}-01T00:00:00.000Z`);
  return { from, to: nextPeriodStart(from) };
}

/** What an app that may publish `limit` posts in the month of `now` is told of it; null is unlimited, and nothing is told. */
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
