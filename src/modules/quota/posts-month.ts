import { secondsUntil } from '../../common/clock.js';
import { rateLimitHeaders } from '../../http/rate-limit-headers.js';
import { nextPeriodStart, periodStart } from './period.js';

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
