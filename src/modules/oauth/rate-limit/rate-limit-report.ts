import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { ExceededBy } from './request-keys.js';

/** Reports exceeded limits: each rejection as a metric, and an audit event when a limit is reached. */
@Injectable()
export class RateLimitReport {
  private readonly logger = new Logger(RateLimitReport.name);
  private readonly refusals: Counter<'budget'>;

  constructor(
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    { registry }: Metrics,
  ) {
    this.refusals = new Counter({
      name: 'oauth_throttled_total',
      help: 'Requests that exceeded a rate limit, by its name.',
      labelNames: ['budget'],
      registers: [registry],
    });
  }

  refused(limit: string): void {
    this.refusals.inc({ budget: limit });
  }

  /** Records that the transaction counts the last attempt that the limit allows. */
  reached(tx: Transaction, limit: string, by: ExceededBy = {}): Promise<void> {
    const change = { actor: 'service', reason: 'too many attempts' };
    return this.audit.record(tx, 'oauth.throttled', limit, change, { ...by });
  }

  /** The same for a limit in memory. Never throws: the limit does not depend on the event. */
  async callsReached(limit: string, by: ExceededBy): Promise<void> {
    try {
      await this.transactions.run((tx) => this.reached(tx, limit, by));
    } catch (error) {
      this.logger.error(
        `The exceeded limit ${limit} could not be recorded.`,
        (error as Error).stack,
      );
    }
  }
}
