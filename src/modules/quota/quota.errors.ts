import { secondsUntil } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { nextPeriodStart } from './period.js';

/** The app's posts of this month are spent (source document, sections 7 and 8). */
export class QuotaExceeded extends AppError {
  static readonly code = 'quota_exceeded';
  static readonly example =
    'This app has published its 100 posts of this month. Publishing opens again at 2026-12-01T00:00:00.000Z.';

  constructor(limit: number, now: Date) {
    const opens = nextPeriodStart(now);
    super(
      QuotaExceeded.code,
      `This app has published its ${limit} posts of this month. Publishing opens again at ${opens.toISOString()}.`,
      { headers: { 'Retry-After': String(secondsUntil(opens, now)) } },
    );
  }
}
