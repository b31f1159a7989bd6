import { DAY, later, startOf } from '../../common/clock.js';
import type { AppConfig } from '../../config/app-config.js';

/** Calls before this moment are deleted. It is the start of a UTC day, so that a day is counted from all of its calls or not at all. */
export function callsKeptSince(now: Date, { retention }: Pick<AppConfig, 'retention'>): Date {
  return startOf(later(now, -retention.callLog * DAY), DAY);
}
