import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Metrics, registerStoredGauge, type Sample } from '../../platform/observability/metrics.js';
import { periodOf } from './quota-period.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';

/** Posts and limits of the current month, for the apps that have published in it. */
@Injectable()
export class QuotaMetrics {
  constructor(
    metrics: Metrics,
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly clock: Clock,
  ) {
    registerStoredGauge(
      metrics.registry,
      {
        name: 'quota_used_posts',
        help: 'Posts that an app has published this month (UTC).',
        labelNames: ['client_id'],
      },
      () => this.used(),
    );
    registerStoredGauge(
      metrics.registry,
      {
        name: 'quota_limit_posts',
        help: 'Posts that an app may publish this month; absent where there is no limit.',
        labelNames: ['client_id'],
      },
      () => this.limits(),
    );
  }

  private async used(): Promise<Sample<'client_id'>[]> {
    const usage = await this.repository.findUsage(periodOf(this.clock.now()));
    return usage.map(({ clientId, used }) => ({ labels: { client_id: clientId }, value: used }));
  }

  private async limits(): Promise<Sample<'client_id'>[]> {
    const usage = await this.repository.findUsage(periodOf(this.clock.now()));
    const arrangements = await this.repository.findArrangements();
    return usage.flatMap(({ clientId }) => {
      const limit = this.quota.limitOf(arrangements.get(clientId) ?? null);
      return limit === null ? [] : [{ labels: { client_id: clientId }, value: limit }];
    });
  }
}
