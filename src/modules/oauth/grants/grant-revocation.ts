import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../audit/audit-log.repository.js';
import { Clock } from '../../../common/clock.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import { GrantsRepository } from './grants.repository.js';

/** An app, as people know it. */
export interface AppName {
  clientId: string;
  name: string;
}

/** Ends a grant: every code and token of it is dead from the next request on. */
@Injectable()
export class GrantRevocation {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async revoke(grantId: string, reason: string, actor = 'service'): Promise<void> {
    await this.transactions.run((tx) => this.revokeIn(tx, grantId, { actor, reason }));
  }

  /** The same as part of a unit. */
  async revokeIn(
    tx: Transaction,
    grantId: string,
    change: Change,
    details: Record<string, unknown> = {},
  ): Promise<void> {
    await this.end(tx, grantId, change, details);
  }

  /**
   * Ends every live grant of a user to these apps, or to all.
   * @returns the apps that lost access by it
   */
  async revokeOf(
    userId: string,
    clientIds: readonly string[] | 'all',
    change: Change,
  ): Promise<AppName[]> {
    const apps = clientIds === 'all' ? undefined : clientIds;
    return this.transactions.run(async (tx) => {
      const live = await this.grants.findLiveOneByOne(tx, userId, this.clock.now(), apps);
      const names = new Map<string, string>();
      for (const { id, clientId, name } of live) {
        if (await this.end(tx, id, change, { clientId })) names.set(clientId, name);
      }
      return [...names].map(([clientId, name]) => ({ clientId, name }));
    });
  }

  /** False when it was revoked before. */
  private async end(
    tx: Transaction,
    grantId: string,
    change: Change,
    details: Record<string, unknown>,
  ): Promise<boolean> {
    const first = await this.grants.revoke(tx, grantId, this.clock.now());
    if (first) await this.audit.record(tx, 'grant.revoked', grantId, change, details);
    return first;
  }
}
