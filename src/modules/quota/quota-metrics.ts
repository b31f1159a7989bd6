import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Metrics, registerStoredGauge, type Sample } from '../../platform/observability/metrics.js';
import { periodOf } from './quota-period.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';

type Samples = Sample<'client_id'>[];

/** Usage and limits of the apps that have published in the current month. */
@Injectable()
export class QuotaMetrics {
  constructor(
    { registry }: Metrics,
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly clock: Clock,
  ) {
    const used = {
      name: 'quota_used_posts',
      help: 'Posts that an app has published this month (UTC).',
    };
    const limit = {
      name: 'quota_limit_posts',
      help: 'Posts that an app may publish this month; absent where there is no limit.',
    };
    const labelNames: ['client_id'] = ['client_id'];
    registerStoredGauge(registry, { ...used, labelNames }, () => this.used());
    registerStoredGauge(registry, { ...limit, labelNames }, () => this.limits());
  }

  private async used(): Promise<Samples> {
    const usage = await this.repository.findUsage(periodOf(this.clock.now()));
    return [...usage].map(([client_id, { used }]) => ({ labels: { client_id }, value: used }));
  }

  private async limits(): Promise<Samples> {
    const usage = await this.repository.findUsage(periodOf(this.clock.now()));
    const assignments = await this.repository.findAssignments();
    return [...usage.keys()].flatMap((client_id) => {
      const limit = this.quota.limitOf(assignments.get(client_id));
      return limit === null ? [] : [{ labels: { client_id }, value: limit }];
    });
  }
}
