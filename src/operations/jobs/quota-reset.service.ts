import { Injectable } from '@nestjs/common';
import { AppsService } from '../../modules/oauth/apps/apps.service.js';
import { QuotaService, type PeriodOpening } from '../../modules/quota/quota.service.js';

/**
 * The start of a calendar month (source document, section 8). No app waits for it: a month's count starts at zero with its
 * first post. It opens the rows ahead of the first posts, and tells what the last month came to.
 */
@Injectable()
export class QuotaReset {
  constructor(
    private readonly apps: AppsService,
    private readonly quota: QuotaService,
  ) {}

  /** Safe to run twice, late, never, or in two places at once. */
  async run(): Promise<PeriodOpening> {
    const apps = await this.apps.list();
    return this.quota.openPeriod(
      apps.filter(({ enabled }) => enabled).map(({ clientId }) => clientId),
    );
  }
}
