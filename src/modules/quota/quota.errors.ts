import { secondsUntil } from '../../platform/clock.js';
import { AppError } from '../../platform/errors.js';
import { nextPeriodStart, postsMonthHeaders } from './quota-period.js';

/** The app's posts of this month are spent (source document, sections 7 and 8). */
export class QuotaExceeded extends AppError {
  static readonly code = 'quota_exceeded';

  constructor(limit: number, now: Date) {
    const opens = nextPeriodStart(now);
    super(
      QuotaExceeded.code,
      `The app's quota of ${limit} ${limit === 1 ? 'post' : 'posts'} per month is spent. Publishing opens again at ${opens.toISOString()}; the operator can raise the quota.`,
      {
        headers: {
          'Retry-After': String(secondsUntil(opens, now)),
          ...postsMonthHeaders({ limit, remaining: 0 }, now),
        },
      },
    );
  }
}
