import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, MoreThan } from 'typeorm';
import type { ConnectedAppView } from '../../../pages/views.js';
import { addMilliseconds, DAY, MINUTE } from '../../../platform/clock.js';
import {
  canonicalScopes,
  parseScope,
  type Scope,
  type ScopesOfCredential,
  scopesThatCount,
} from '../../../platform/access/scopes.js';
import { type Raw, withDates } from '../../../platform/database/columns.js';
import {
  insertRow,
  lockRows,
  padToPowerOfTwo,
  placeholdersFor,
  readRows,
  unchanged,
  writeRows,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { Grant } from './token.entities.js';

/** The condition for grants that are neither revoked nor expired. Its value is the current time. */
export const IS_NOT_ENDED = 'grants.revoked_at IS NULL AND grants.expires_at > ?';
/** The condition for active grants: not ended and with a usable code or token. Its values are those of `activeAt`. */
export const IS_ACTIVE = `${IS_NOT_ENDED}
  AND (EXISTS (SELECT 1 FROM refresh_tokens token WHERE token.grant_id = grants.id
      AND token.consumed_at IS NULL AND token.expires_at > ?)
    OR EXISTS (SELECT 1 FROM access_tokens token WHERE token.grant_id = grants.id
      AND token.revoked_at IS NULL AND token.expires_at > ?)
    OR EXISTS (SELECT 1 FROM authorization_codes code WHERE code.grant_id = grants.id
      AND code.consumed_at IS NULL AND code.expires_at > ?))`;

export function activeAt(now: Date): Date[] {
  return [now, now, now, now];
}

const FIND_ACTIVE = `
  SELECT grants.client_id AS clientId, apps.name, apps.publisher,
    apps.verified AS isVerified, apps.logo_hash AS logoHash, grants.scope,
    grants.withdrawn_scope AS withdrawnScope, apps.scope AS appScope,
    COUNT(*) AS connections, MIN(grants.created_at) AS grantedAt,
    MAX(grants.created_at) AS lastGrantedAt, MAX(grants.last_used_at) AS lastUsedAt
  FROM grants
  JOIN apps ON apps.client_id = grants.client_id
  WHERE grants.user_id = ? AND ${IS_ACTIVE}`;
/** The account pages mark an app for this time after a consent. */
const NEW_FOR_MS = 7 * DAY;
const RECORD_USE =
  'UPDATE grants SET last_used_at = ? WHERE (last_used_at IS NULL OR last_used_at <= ?) AND id IN';
// The subquery does not lock the app, which all its grants share.
const LOCKED_GRANTS = `SELECT id, scope, withdrawn_scope AS withdrawnScope,
    (SELECT apps.scope FROM apps WHERE apps.client_id = grants.client_id) AS appScope
  FROM grants
  WHERE ${IS_NOT_ENDED} AND id IN`;

/**
 * Locks these grants until the end of the transaction. Returns the scopes of each that count from now on, by its id; undefined if one
 * was revoked or has expired.
 */
export async function lockGrants(
  tx: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, Scope[]> | undefined> {
  const rows = await lockRows<Raw<ScopesOfCredential & { id: string }>>(
    tx,
    'grants',
    `${LOCKED_GRANTS} ${placeholdersFor(ids)}`,
    [now, ...ids],
  );
  return rows.length === ids.length
    ? new Map(rows.map((row) => [row.id, scopesThatCount(row)]))
    : undefined;
}

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, grant: Grant): Promise<void> {
    await insertRow(tx, Grant, grant);
  }

  /** The requested and the granted scopes of the user's latest unrevoked grant to this app, and how the app presented itself. */
  async findLatestChoice(
    userId: string,
    clientId: string,
  ): Promise<{ granted: Scope[]; requested: Scope[]; identityHash: string | null } | null> {
    const grant = await this.dataSource.manager.findOne(Grant, {
      select: { id: true, scope: true, requestedScope: true, identityHash: true },
      where: { userId, clientId, revokedAt: IsNull() },
      order: { id: 'DESC' },
    });
    if (!grant) return null;
    const { scope, requestedScope, identityHash } = grant;
    return { granted: parseScope(scope), requested: parseScope(requestedScope), identityHash };
  }

  /**
   * Revokes grants and returns those that were not revoked yet. Locks them first, so that concurrent transactions never return the
   * same grant.
   * @param ids in ascending order
   */
  async revokeAll(
    tx: Transaction,
    ids: readonly string[],
    now: Date,
  ): Promise<Pick<Grant, 'id' | 'clientId' | 'userId'>[]> {
    const where = { id: In(ids), revokedAt: IsNull() };
    await entities(tx).update(Grant, where, { scope: unchanged('scope') });
    const select = { id: true, clientId: true, userId: true };
    const revoked = await entities(tx).find(Grant, { select, where });
    await entities(tx).update(Grant, where, { revokedAt: now });
    return revoked;
  }

  /** Finds the apps among these, by default all apps, to which the user has active grants, with all their scopes. Sorted by name. */
  async findActiveApps(
    userId: string,
    now: Date,
    clientIds?: readonly string[],
  ): Promise<ConnectedAppView[]> {
    const ids = clientIds && padToPowerOfTwo(clientIds);
    const rows = await readRows<Raw<ActiveGrantsRow>>(
      this.dataSource,
      `${FIND_ACTIVE} ${ids ? `AND grants.client_id IN ${placeholdersFor(ids)}` : ''}
       GROUP BY grants.client_id, apps.name, apps.publisher, apps.verified, apps.logo_hash,
         grants.scope, grants.withdrawn_scope, apps.scope`,
      [userId, ...activeAt(now), ...(ids ?? [])],
    );
    const apps = new Map<string, ConnectedAppView>();
    for (const row of rows.map((raw) => withDates<ActiveGrantsRow>(raw))) {
      const { scope, withdrawnScope, appScope, ...shown } = row;
      const scopes = scopesThatCount({ scope, withdrawnScope, appScope });
      const { clientId, grantedAt, lastUsedAt } = shown;
      const app = apps.get(clientId);
      const lastGrantedAt = later(app?.lastGrantedAt ?? null, shown.lastGrantedAt);
      apps.set(clientId, {
        ...shown,
        isVerified: Boolean(shown.isVerified),
        scopes: canonicalScopes([...(app?.scopes ?? []), ...scopes]),
        connections: (app?.connections ?? 0) + shown.connections,
        grantedAt: app && app.grantedAt < grantedAt ? app.grantedAt : grantedAt,
        lastGrantedAt,
        isNew: lastGrantedAt > addMilliseconds(now, -NEW_FOR_MS),
        lastUsedAt: later(app?.lastUsedAt ?? null, lastUsedAt),
      });
    }
    return [...apps.values()].toSorted(
      (one, other) =>
        one.name.localeCompare(other.name, 'en') || one.clientId.localeCompare(other.clientId),
    );
  }

  /** Finds the granted and the withdrawn scopes of those of these grants that are not revoked. */
  findScopes(
    tx: Transaction,
    ids: readonly string[],
  ): Promise<Pick<Grant, 'id' | 'scope' | 'withdrawnScope'>[]> {
    return entities(tx).find(Grant, {
      select: { id: true, scope: true, withdrawnScope: true },
      where: { id: In(ids), revokedAt: IsNull() },
    });
  }

  async setWithdrawn(
    tx: Transaction,
    ids: readonly string[],
    withdrawnScope: string,
  ): Promise<void> {
    await entities(tx).update(Grant, { id: In(ids) }, { withdrawnScope });
  }

  /** Finds the ids of the user's unrevoked grants to these apps, by default to all apps. Ascending, which is the lock order. */
  async findUnrevoked(
    tx: Transaction,
    userId: string,
    clientIds?: readonly string[],
  ): Promise<string[]> {
    const grants = await entities(tx).find(Grant, {
      select: { id: true },
      where: { userId, revokedAt: IsNull(), ...(clientIds && { clientId: In(clientIds) }) },
      order: { id: 'ASC' },
    });
    return grants.map(({ id }) => id);
  }

  /** Finds the ids of the user's active grants to an app, newest first. */
  async findActive(
    tx: Transaction,
    userId: string,
    clientId: string,
    now: Date,
  ): Promise<string[]> {
    const rows = await readRows<{ id: string }>(
      tx,
      `SELECT grants.id FROM grants WHERE grants.user_id = ? AND grants.client_id = ? AND ${IS_ACTIVE}
       ORDER BY grants.id DESC`,
      [userId, clientId, ...activeAt(now)],
    );
    return rows.map(({ id }) => id);
  }

  /** Finds the ids of unrevoked and unexpired grants to an app that come after the id `after`. Ascending, which is the lock order. */
  async findUnrevokedOf(
    clientId: string,
    now: Date,
    { after, limit }: { after: string; limit: number },
  ): Promise<string[]> {
    const grants = await this.dataSource.manager.find(Grant, {
      select: { id: true },
      where: { clientId, id: MoreThan(after), revokedAt: IsNull(), expiresAt: MoreThan(now) },
      order: { id: 'ASC' },
      take: limit,
    });
    return grants.map(({ id }) => id);
  }

  /** Stores `at` as the last use of each grant, unless its stored last use is less than a minute older. */
  async recordUse(tx: Transaction, ids: readonly string[], at: Date): Promise<void> {
    const values = [at, addMilliseconds(at, -MINUTE), ...ids];
    await writeRows(tx, `${RECORD_USE} ${placeholdersFor(ids)}`, values);
  }
}

function later<T extends Date | null>(one: Date | null, other: T): Date | T {
  return one && (!other || one > other) ? one : other;
}

/** A user's active grants to one app with the same scopes. */
interface ActiveGrantsRow
  extends Omit<ConnectedAppView, 'scopes' | 'isVerified' | 'isNew'>, ScopesOfCredential {
  isVerified: number;
}
