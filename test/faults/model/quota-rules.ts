import type { AppName } from './api-call.js';

/** Monthly quotas of apps, by calendar month in UTC. */
export class QuotaRules {
  /** By app and month. */
  private readonly used = new Map<string, number>();

  /** @param limits posts per month; null is unlimited */
  constructor(private readonly limits: Readonly<Record<AppName, number | null>>) {}

  countPost(app: AppName, now: Date): void {
    this.used.set(slotOf(app, now), this.usedBy(app, now) + 1);
  }

  /** The body of `GET /quota`. */
  status(app: AppName, now: Date): { remaining: number | null } & Record<string, unknown> {
    const limit = this.limits[app];
    const used = this.usedBy(app, now);
    return {
      limit,
      used,
      remaining: limit === null ? null : limit - used,
      period: monthOf(now),
      resetsAt: startOfMonth(now, 1).toISOString(),
    };
  }

  /** The quota headers of a publish; none without a limit. */
  headers(app: AppName, now: Date): Record<string, string> {
    const limit = this.limits[app];
    if (limit === null) return {};
    const window = secondsBetween(startOfMonth(now, 0), startOfMonth(now, 1));
    const left = limit - this.usedBy(app, now);
    return {
      'ratelimit-policy': `"posts-month";q=${limit};w=${window}`,
      ratelimit: `"posts-month";r=${left};t=${secondsLeft(now)}`,
    };
  }

  private usedBy(app: AppName, now: Date): number {
    return this.used.get(slotOf(app, now)) ?? 0;
  }
}

/** Seconds until the end of the month. */
export function secondsLeft(now: Date): number {
  return secondsBetween(now, startOfMonth(now, 1));
}

function slotOf(app: AppName, now: Date): string {
  return `${app} ${monthOf(now)}`;
}

function monthOf(now: Date): string {
  return now.toISOString().slice(0, 7);
}

function startOfMonth(now: Date, monthsLater: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsLater, 1));
}

function secondsBetween(from: Date, to: Date): number {
  return Math.ceil((to.getTime() - from.getTime()) / 1000);
}
