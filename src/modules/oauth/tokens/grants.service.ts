import { Injectable } from '@nestjs/common';
import { formatScope, type Scope } from '../../../platform/access/scopes.js';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { newId } from '../../../platform/ids.js';
import { GrantsRepository } from './grants.repository.js';
import type { Grant } from './token.entities.js';

export interface AppName {
  clientId: string;
  name: string;
}

/** The reason for which a grant is revoked, by the audit event of the reused credential. */
const REUSE_REASONS = {
  'code.replayed': 'code replayed',
  'refresh_token.reused': 'refresh token reused',
};

/** Grants that one statement revokes. */
const BATCH = 500;

/** Creates and revokes grants. Revoking one disables every code and token of it with the next request. */
@Injectable()
export class GrantsService {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param requested the scopes that the app requested, if the user could refuse some of them */
  async open(
    tx: Transaction,
    userId: string,
    clientId: string,
    scopes: readonly Scope[],
    requested: readonly Scope[] = scopes,
  ): Promise<Grant> {
    const now = this.clock.now();
    const grant: Grant = {
      id: newId('grt', now),
      userId,
      clientId,
      scope: formatScope(scopes),
      requestedScope: formatScope(requested),
      createdAt: now,
      expiresAt: later(now, this.config.lifetimes.grant * SECOND),
      revokedAt: null,
      lastUsedAt: null,
    };
    await this.grants.insert(tx, grant);
    const details = { clientId, scope: grant.scope };
    await this.audit.record(tx, 'grant.created', grant.id, { actor: userId }, details);
    return grant;
  }

  /** False when it was revoked before. */
  async revoke(
    tx: Transaction,
    id: string,
    change: Change,
    details: Record<string, unknown> = {},
  ): Promise<boolean> {
    const revoked = await this.grants.revoke(tx, id, this.clock.now());
    if (revoked) await this.audit.record(tx, 'grant.revoked', id, change, details);
    return revoked;
  }

  /** Revokes the grant of a code or refresh token that was reused, and records the reuse, unless it was revoked before. */
  async revokeReused(
    tx: Transaction,
    event: keyof typeof REUSE_REASONS,
    { grantId, clientId, userId }: { grantId: string; clientId: string; userId: string },
  ): Promise<void> {
    const details = { clientId, userId };
    const change = { actor: 'service', reason: REUSE_REASONS[event] };
    if (await this.revoke(tx, grantId, change, details))
      await this.audit.record(tx, event, grantId, { actor: clientId }, details);
  }

  /**
   * Revokes the grants of a user to these apps, or to all.
   * @param before runs first in the same transaction
   * @returns the apps that lost access
   */
  async revokeOf(
    userId: string,
    clientIds: readonly string[] | 'all',
    change: Change,
    before: (tx: Transaction) => Promise<void> = async () => undefined,
  ): Promise<AppName[]> {
    const apps = clientIds === 'all' ? undefined : clientIds;
    const live = await this.grants.findLive(userId, this.clock.now(), apps);
    const names = new Map(live.map(({ clientId, name }) => [clientId, name]));
    const revoked = new Set<string>();
    await this.transactions.run(async (tx) => {
      revoked.clear();
      await before(tx);
      const ids = await this.grants.findUnrevoked(tx, userId, apps);
      for (let start = 0; start < ids.length; start += BATCH) {
        const batch = ids.slice(start, start + BATCH);
        const grants = await this.grants.revokeAll(tx, batch, this.clock.now());
        const events = grants.map(({ id, clientId }) =>
          this.audit.event('grant.revoked', id, change, { clientId, userId }),
        );
        await this.audit.insertAll(tx, events);
        for (const { clientId } of grants) revoked.add(clientId);
      }
    });
    return [...names]
      .filter(([clientId]) => revoked.has(clientId))
      .map(([clientId, name]) => ({ clientId, name }));
  }
}
