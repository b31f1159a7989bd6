import { Injectable } from '@nestjs/common';
import {
  formatScope,
  parseScope,
  remainingScopes,
  type Scope,
} from '../../../platform/access/scopes.js';
import {
  AuditLog,
  type Change,
  type NewAuditEvent,
} from '../../../platform/audit/audit-log.repository.js';
import type { ConnectedAppView } from '../../../pages/views.js';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { newId } from '../../../platform/ids.js';
import { EventOutbox } from '../../events/event-outbox.service.js';
import { lockText } from '../rate-limit/rate-limit.repository.js';
import { GrantsRepository, lockGrants } from './grants.repository.js';
import type { Grant } from './token.entities.js';

export type AppSummary = Pick<ConnectedAppView, 'clientId' | 'name'>;

/** The reason for the revocation of a grant, by the audit event of the reuse. */
const REUSE_REASONS = {
  'code.replayed': 'code replayed',
  'refresh_token.reused': 'refresh token reused',
};

type RevokedGrant = Pick<Grant, 'clientId' | 'userId'>;

/** Grants per statement. */
const BATCH_SIZE = 500;

/** Creates and revokes grants. Revoking a grant invalidates all its codes and tokens. */
@Injectable()
export class GrantsService {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly events: EventOutbox,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Locks the decisions of the user about the app until the end of the transaction, before `withdraw` and `create`: of two at once, each
   * would miss the grant of the other, leave it the scopes that the user withheld, and keep a grant too many.
   */
  lockDecisions(tx: Transaction, userId: string, clientId: string): Promise<void> {
    return lockText(tx, `decision ${userId} ${clientId}`);
  }

  /**
   * Creates a grant, and ends the oldest ones of the user to the app if they are more than allowed.
   * @param requested all scopes that the app requested, including those that the user did not grant
   * @param identityHash how the app presented itself on the consent page; null without such a page
   */
  async create(
    tx: Transaction,
    userId: string,
    clientId: string,
    scopes: readonly Scope[],
    requested: readonly Scope[] = scopes,
    identityHash: string | null = null,
  ): Promise<Grant> {
    const now = this.clock.now();
    const grant: Grant = {
      id: newId('grt', now),
      userId,
      clientId,
      scope: formatScope(scopes),
      requestedScope: formatScope(requested),
      withdrawnScope: null,
      identityHash,
      createdAt: now,
      expiresAt: addMilliseconds(now, this.config.lifetimes.grant * SECOND),
      revokedAt: null,
      lastUsedAt: null,
    };
    // First, because transactions lock grants in the order of their ids.
    await this.supersede(tx, grant);
    await this.repository.insert(tx, grant);
    const details = { clientId, scope: grant.scope };
    await this.audit.record(tx, 'grant.created', grant.id, { actor: userId }, details);
    return grant;
  }

  /** Ends the oldest grants, so that with the new one they are not too many: an app that keeps all could store and leak any number. */
  private async supersede(tx: Transaction, { userId, clientId, createdAt }: Grant): Promise<void> {
    const max = this.config.rateLimits['grants-per-user'];
    if (max === 0) return;
    const active = await this.repository.findActive(tx, userId, clientId, createdAt);
    const ids = active.slice(max - 1).toSorted();
    const reason = `more than ${max} grants to the app (grants-per-user)`;
    await this.revokeInOrder(tx, ids, { actor: 'service', reason }, 'grant.superseded');
  }

  /**
   * Withdraws scopes from the user's grants to an app. A grant without any other scope ends.
   * @param scopes those that the user was asked for again and did not allow
   * @returns whether a grant lost a scope
   */
  async withdraw(
    tx: Transaction,
    userId: string,
    clientId: string,
    scopes: readonly Scope[],
  ): Promise<boolean> {
    if (scopes.length === 0) return false;
    const now = this.clock.now();
    const ids = await this.repository.findUnrevoked(tx, userId, [clientId]);
    if (ids.length === 0) return false;
    // Expired grants cannot be locked, and need no change.
    await lockGrants(tx, ids, now);
    const change = { actor: userId, reason: 'not allowed in a later decision' };
    const events: NewAuditEvent[] = [];
    const ended: string[] = [];
    /** Ids of the other grants, by their withdrawn scopes: one statement each, and there are few combinations. */
    const reduced = new Map<string, string[]>();
    for (const grant of await this.repository.findScopes(tx, ids)) {
      const remaining = remainingScopes(grant);
      const lost = remaining.filter((scope) => scopes.includes(scope));
      if (lost.length === 0) continue;
      const isEnded = lost.length === remaining.length;
      const action = isEnded ? 'grant.revoked' : 'grant.reduced';
      events.push(
        this.audit.event(action, grant.id, change, { clientId, scope: formatScope(lost) }),
      );
      const withdrawn = formatScope([...parseScope(grant.withdrawnScope ?? ''), ...lost]);
      if (isEnded) ended.push(grant.id);
      else reduced.set(withdrawn, [...(reduced.get(withdrawn) ?? []), grant.id]);
    }
    if (ended.length > 0) await this.repository.revokeAll(tx, ended, now);
    for (const [withdrawn, reducedIds] of reduced)
      await this.repository.setWithdrawn(tx, reducedIds, withdrawn);
    if (events.length > 0) await this.audit.insertAll(tx, events);
    return events.length > 0;
  }

  /** Returns false if the grant was already revoked. */
  async revoke(tx: Transaction, id: string, change: Change): Promise<boolean> {
    return (await this.revokeBatch(tx, [id], change)).length === 1;
  }

  /** Revokes the grant of a reused code or refresh token and records the reuse, unless the grant was already revoked. */
  async revokeReused(
    tx: Transaction,
    event: keyof typeof REUSE_REASONS,
    { grantId, clientId, userId }: { grantId: string; clientId: string; userId: string },
  ): Promise<void> {
    const change = { actor: 'service', reason: REUSE_REASONS[event] };
    if (await this.revoke(tx, grantId, change))
      await this.audit.record(tx, event, grantId, { actor: clientId }, { clientId, userId });
  }

  /** Revokes a user's grants to some or all apps. @returns the apps that lost access */
  async revokeForUser(
    userId: string,
    clientIds: readonly string[] | 'all',
    change: Change,
  ): Promise<AppSummary[]> {
    const someClientIds = clientIds === 'all' ? undefined : clientIds;
    const apps = await this.activeApps(userId, someClientIds);
    const revoked = await this.transactions.run((tx) =>
      this.revokeAllOf(tx, [userId], change, someClientIds),
    );
    return appsOf(userId, revoked, apps);
  }

  /**
   * Revokes the grants of users, in the order of the ids, which is the lock order.
   * @param clientIds only those to these apps
   * @returns the revoked grants
   */
  async revokeAllOf(
    tx: Transaction,
    userIds: readonly string[],
    change: Change,
    clientIds?: readonly string[],
  ): Promise<RevokedGrant[]> {
    const ids: string[] = [];
    for (const userId of userIds)
      ids.push(...(await this.repository.findUnrevoked(tx, userId, clientIds)));
    return this.revokeInOrder(tx, ids.toSorted(), change);
  }

  /** @param ids in ascending order, which is the lock order */
  private async revokeInOrder(
    tx: Transaction,
    ids: readonly string[],
    change: Change,
    action?: 'grant.superseded',
  ): Promise<RevokedGrant[]> {
    const revoked: RevokedGrant[] = [];
    for (let start = 0; start < ids.length; start += BATCH_SIZE) {
      const batch = ids.slice(start, start + BATCH_SIZE);
      revoked.push(...(await this.revokeBatch(tx, batch, change, action)));
    }
    return revoked;
  }

  /** The apps that have access to a user's account, sorted by name. @param clientIds only these apps */
  activeApps(userId: string, clientIds?: readonly string[]): Promise<ConnectedAppView[]> {
    return this.repository.findActiveApps(userId, this.clock.now(), clientIds);
  }

  /**
   * Revokes all grants to an app, oldest first, with one transaction per batch, so that a large app blocks others only for a moment.
   * If it is interrupted, another call continues.
   * @param onBatch is called after each batch with the number of grants that were revoked so far
   * @returns the number of revoked grants
   */
  async revokeForApp(
    clientId: string,
    change: Change,
    onBatch: (revoked: number) => void = () => undefined,
  ): Promise<number> {
    let revoked = 0;
    for (let after = ''; ;) {
      const paging = { after, limit: BATCH_SIZE };
      const ids = await this.repository.findUnrevokedOf(clientId, this.clock.now(), paging);
      const last = ids.at(-1);
      if (last === undefined) return revoked;
      const grants = await this.transactions.run((tx) => this.revokeBatch(tx, ids, change));
      revoked += grants.length;
      onBatch(revoked);
      after = last;
    }
  }

  /** Returns false if the grant was already revoked. */
  revokeOne({ id }: Pick<Grant, 'id'>, change: Change): Promise<boolean> {
    return this.transactions.run((tx) => this.revoke(tx, id, change));
  }

  /** @returns those of the grants that were not revoked yet */
  private async revokeBatch(
    tx: Transaction,
    ids: readonly string[],
    change: Change,
    action: 'grant.revoked' | 'grant.superseded' = 'grant.revoked',
  ): Promise<RevokedGrant[]> {
    const grants = await this.repository.revokeAll(tx, ids, this.clock.now());
    const events = grants.map(({ id, clientId, userId }) =>
      this.audit.event(action, id, change, { clientId, userId }),
    );
    await this.audit.insertAll(tx, events);
    const known = grants.filter(({ clientId }) => clientId !== change.actor);
    if (action === 'grant.revoked') await this.events.accessReduced(tx, known);
    return grants;
  }
}

/** The apps among `apps` that lost their access to a user. */
export function appsOf(
  userId: string,
  revoked: readonly RevokedGrant[],
  apps: readonly AppSummary[],
): AppSummary[] {
  const lost = new Set(revoked.flatMap((grant) => (grant.userId === userId ? grant.clientId : [])));
  return apps.filter(({ clientId }) => lost.has(clientId));
}
