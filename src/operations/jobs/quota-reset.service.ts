import { Injectable } from '@nestjs/common';
import { AppsService } from '../../modules/oauth/apps/apps.service.js';
import { QuotaMonths, type MonthChange } from '../../modules/quota/months/quota-months.service.js';

/**
 * The start of a calendar month (source document, section 8). No app waits for it: a month's count starts at zero with its
 * first post. It opens the rows ahead of the first posts, closes the months before, and tells what the last one came to.
 */
@Injectable()
export class QuotaReset {
  constructor(
    private readonly apps: AppsService,
    private readonly months: QuotaMonths,
  ) {}

  /** Safe to run twice, late, never, or in two places at once. */
  async run(): Promise<MonthChange> {
    const apps = await this.apps.list();
    return this.months.change(
      apps.filter(({ enabled }) => enabled).map(({ clientId }) => clientId),
    );
  }
}

export function resetSentence({ period, opened, closed, previous }: MonthChange): string {
  return `Opened ${period} for ${opened} apps. Closed earlier months of ${closed} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`;
}
