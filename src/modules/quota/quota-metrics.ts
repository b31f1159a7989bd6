import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Metrics, modeOf, registerStoredGauge } from '../../platform/observability/metrics.js';
import { periodOf } from './quota-period.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';

/** Gauges of the usage and limit of each app that published in the current month. */
@Injectable()
export class QuotaMetrics {
  constructor(
    { registry }: Metrics,
    repository: QuotaRepository,
    quota: QuotaService,
    clock: Clock,
  ) {
    const used = {
      name: 'quota_used_posts',
      help: 'Posts that an app has published this month (UTC).',
      labelNames: ['client_id', 'mode'],
    };
    registerStoredGauge(registry, used, async () => {
      const usage = await repository.findUsage(periodOf(clock.now()));
      return [...usage].map(([client_id, { used: value }]) => ({
        labels: { client_id, mode: modeOf(client_id) },
        value,
      }));
    });
    const limit = {
      name: 'quota_limit_posts',
      help: 'Posts that an app may publish this month; absent if unlimited.',
      labelNames: ['client_id', 'mode'],
    };
    registerStoredGauge(registry, limit, async () => {
      const usage = await repository.findUsage(periodOf(clock.now()));
      const assignments = await repository.findAssignments();
      return [...usage.keys()].flatMap((client_id) => {
        const value = quota.limitOf(assignments.get(client_id));
        return value === null ? [] : [{ labels: { client_id, mode: modeOf(client_id) }, value }];
      });
    });
  }
}
