import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { AppDetails } from './request-keys.js';

/** Reports rate limits: counts rejected requests in a metric, and records an audit event when a limit is reached. */
@Injectable()
export class RateLimitReporter {
  private readonly logger = new Logger(RateLimitReporter.name);
  private readonly rejections: Counter<'limit'>;

  constructor(
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    { registry }: Metrics,
  ) {
    this.rejections = new Counter({
      name: 'oauth_throttled_total',
      help: 'Requests that exceeded a rate limit, by the name of the limit.',
      labelNames: ['limit'],
      registers: [registry],
    });
  }

  countRejected(limit: string): void {
    this.rejections.inc({ limit });
  }

  /** Records in the audit log that the transaction counts the last attempt that the limit allows. */
  recordReached(tx: Transaction, limit: string, app: AppDetails = {}): Promise<void> {
    const change = { actor: 'service', reason: 'too many attempts' };
    return this.audit.record(tx, 'oauth.throttled', limit, change, { ...app });
  }

  /** Like `recordReached`, for a limit in memory. Never throws, because the limit works without the event. */
  async recordCallsReached(limit: string, app: AppDetails): Promise<void> {
    try {
      await this.transactions.run((tx) => this.recordReached(tx, limit, app));
    } catch (error) {
      this.logger.error(
        `Could not record in the audit log that the limit ${limit} was reached.`,
        (error as Error).stack,
      );
    }
  }
}
