import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { TransactionRunner } from '../../../database/transaction.js';
import type { Budget } from './rolling-counter.js';

/** Writes down that a budget was spent: once, by the hit that spent it, not by every call that is refused after. */
@Injectable()
export class ThrottleAudit {
  constructor(
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /** `hits` is the count after the hit. */
  async afterHit({ name, limit }: Budget, hits: number, clientId?: string): Promise<void> {
    if (hits !== limit) return;
    await this.transactions.run((tx) =>
      this.audit.record(
        tx,
        'oauth.throttled',
        name,
        { actor: 'service', reason: 'too many attempts' },
        clientId === undefined ? {} : { clientId },
      ),
    );
  }
}
