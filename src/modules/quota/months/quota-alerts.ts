import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import { periodOf } from '../quota-period.js';
import type { QuotaUsage } from '../quota.entities.js';
import { QuotaRepository } from '../quota.repository.js';
import { QuotaService } from '../quota.service.js';
import { THRESHOLDS, thresholdReached } from './quota-thresholds.js';
import { QuotaAlertsRepository } from './quota-alerts.repository.js';

const AT_ONCE = 500;

/** Tells operators which apps come near their limit, or reach it, in the current month. */
@Injectable()
export class QuotaAlerts {
  private readonly logger = new Logger(QuotaAlerts.name);
  private readonly alertsTotal: Counter<'threshold'>;

  constructor(
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly alerts: QuotaAlertsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.alertsTotal = new Counter({
      name: 'quota_alerts_total',
      help: 'Alerts of this process that an app has used so much of its month, in percent.',
      labelNames: ['threshold'],
      registers: [metrics.registry],
    });
    for (const threshold of THRESHOLDS) this.alertsTotal.inc({ threshold }, 0);
  }

  /**
   * Tells of every app the highest threshold that it has reached since the last time, once among all processes. Under a limit
   * that was raised since, the plan's in the configuration included, thresholds are told again when they are reached again.
   */
  async run(): Promise<void> {
    const period = periodOf(this.clock.now());
    let after: string | undefined = '';
    while (after !== undefined) {
      const usage: QuotaUsage[] = await this.repository.findUsage(period, {
        after,
        limit: AT_ONCE,
      });
      const arrangements = await this.repository.findArrangements(usage.map((row) => row.clientId));
      for (const row of usage)
        await this.check(row, this.quota.limitOf(arrangements.get(row.clientId) ?? null));
      after = usage.length < AT_ONCE ? undefined : usage.at(-1)?.clientId;
    }
  }

  private async check(usage: QuotaUsage, limit: number | null): Promise<void> {
    const { clientId, period, used, alerted } = usage;
    const threshold = thresholdReached(used, limit);
    if (threshold > alerted) await this.tell(usage, limit, threshold);
    if (threshold < alerted)
      await this.transactions.run((tx) => this.alerts.lower(tx, clientId, period, limit));
  }

  private async tell(
    { clientId, period, used }: QuotaUsage,
    limit: number | null,
    threshold: number,
  ): Promise<void> {
    const isFirst = await this.transactions.run(async (tx) => {
      if (!(await this.alerts.raise(tx, clientId, period, threshold))) return false;
      const details = { period, threshold, used, limit };
      await this.audit.record(tx, 'quota.alerted', clientId, { actor: 'service' }, details);
      return true;
    });
    if (!isFirst) return;
    this.alertsTotal.inc({ threshold });
    this.logger.warn(
      `The app ${clientId} has used ${used} of its ${limit} posts in ${period}: ${threshold} percent are reached.`,
    );
  }
}
