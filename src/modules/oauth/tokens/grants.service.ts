import { Injectable } from '@nestjs/common';
import { formatScope, type Scope } from '../../../platform/access/scopes.js';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { newId } from '../../../platform/ids.js';
import { GrantsRepository } from './grants.repository.js';
import type { Grant } from './token.entities.js';

/** Writes down what a user granted an app. */
@Injectable()
export class GrantOpener {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** `requested` is what the app had asked for, where the user could refuse some of it. */
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
    await this.audit.record(
      tx,
      'grant.created',
      grant.id,
      { actor: userId },
      { clientId, scope: grant.scope },
    );
    return grant;
  }
}

/** An app, as people know it. */
export interface AppName {
  clientId: string;
  name: string;
}

/** Why a grant ends when a credential of it comes back after its use, by the action that the audit log has for it. */
const THEFTS = {
  'code.replayed': 'code replayed',
  'refresh_token.reused': 'refresh token reused',
};

const BATCH = 500;

/** Ends a grant: every code and token of it is dead from the next request on. */
@Injectable()
export class GrantRevocation {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** False when it was revoked before. */
  revoke(grantId: string, change: Change, details: Record<string, unknown> = {}): Promise<boolean> {
    return this.transactions.run((tx) => this.end(tx, grantId, change, details));
  }

  /** Ends the grant of a stolen credential, and tells so, unless the grant had ended before. */
  async revokeStolen(
    tx: Transaction,
    theft: keyof typeof THEFTS,
    { id, clientId, userId }: Pick<Grant, 'id' | 'clientId' | 'userId'>,
  ): Promise<void> {
    const details = { clientId, userId };
    const change = { actor: 'service', reason: THEFTS[theft] };
    if (await this.end(tx, id, change, details))
      await this.audit.record(tx, theft, id, { actor: clientId }, details);
  }

  /**
   * Ends every grant of a user to these apps, or to all, that was not revoked before.
   * @param before what else happens in the same unit, first
   * @returns the apps that lost access by it
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
    const losing = await this.transactions.run(async (tx) => {
      await before(tx);
      const ids = await this.grants.findUnrevoked(tx, userId, apps);
      const clients = new Set<string>();
      for (let start = 0; start < ids.length; start += BATCH)
        for (const clientId of await this.endAll(
          tx,
          userId,
          ids.slice(start, start + BATCH),
          change,
        ))
          clients.add(clientId);
      return clients;
    });
    return [...names]
      .filter(([clientId]) => losing.has(clientId))
      .map(([clientId, name]) => ({ clientId, name }));
  }

  /** The apps of those that ended now. */
  private async endAll(
    tx: Transaction,
    userId: string,
    ids: readonly string[],
    change: Change,
  ): Promise<readonly string[]> {
    const ended = await this.grants.revokeAll(tx, ids, this.clock.now());
    const events = ended.map(({ id, clientId }) =>
      this.audit.event('grant.revoked', id, change, { clientId, userId }),
    );
    await this.audit.insertAll(tx, events);
    return ended.map(({ clientId }) => clientId);
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
