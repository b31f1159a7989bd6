import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { Clock } from '../../../common/clock.js';
import { TransactionRunner } from '../../../database/transaction.js';
import { GrantsRepository } from './grants.repository.js';

/** Ends a grant: every code and token of it is dead from the next request on. */
@Injectable()
export class GrantRevocation {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async revoke(grantId: string, reason: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      if (await this.grants.revoke(tx, grantId, this.clock.now())) {
        await this.audit.record(tx, 'grant.revoked', grantId, { actor: 'service', reason });
      }
    });
  }
}
