import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull } from 'typeorm';
import { later, MINUTE } from '../../../platform/clock.js';
import { parseScope, type Scope } from '../../../platform/access/scopes.js';
import { storedTime } from '../../../platform/database/columns.js';
import {
  insertRow,
  padToPowerOfTwo,
  placeholdersFor,
  readRows,
  unchanged,
  writeRows,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { Grant } from './token.entities.js';

/** Active grants of a user to one app with the same scopes. */
export interface LiveGrants {
  clientId: string;
  name: string;
  scopes: Scope[];
  /** Of the first grant. */
  grantedAt: Date;
  /** Of any of the grants. */
  lastUsedAt: Date | null;
}

/** The user's grants with a credential that still works, in groups of the same app and scopes. */
const FIND_LIVE = `
  SELECT grants.client_id AS clientId, apps.name, grants.scope,
    MIN(grants.created_at) AS grantedAt, MAX(grants.last_used_at) AS lastUsedAt
  FROM grants
  JOIN apps ON apps.client_id = grants.client_id
  WHERE grants.user_id = ? AND grants.revoked_at IS NULL AND grants.expires_at > ?
    AND (EXISTS (SELECT 1 FROM refresh_tokens token WHERE token.grant_id = grants.id
        AND token.consumed_at IS NULL AND token.expires_at > ?)
      OR EXISTS (SELECT 1 FROM access_tokens token WHERE token.grant_id = grants.id
        AND token.revoked_at IS NULL AND token.expires_at > ?)
      OR EXISTS (SELECT 1 FROM authorization_codes code WHERE code.grant_id = grants.id
        AND code.consumed_at IS NULL AND code.expires_at > ?))`;
const NOTE_USE =
  'UPDATE grants SET last_used_at = ? WHERE (last_used_at IS NULL OR last_used_at <= ?) AND id IN';
const LOCK_GRANTS =
  'UPDATE grants SET scope = scope WHERE revoked_at IS NULL AND expires_at > ? AND id IN';

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, grant: Grant): Promise<void> {
    await insertRow(tx, Grant, grant);
  }

  /** The scopes that the user last granted this app, and those that it had requested. */
  async findLatestChoice(
    userId: string,
    clientId: string,
  ): Promise<{ granted: Scope[]; requested: Scope[] } | null> {
    const grant = await this.dataSource.manager.findOne(Grant, {
      select: { id: true, scope: true, requestedScope: true },
      where: { userId, clientId, revokedAt: IsNull() },
      order: { id: 'DESC' },
    });
    if (!grant) return null;
    return { granted: parseScope(grant.scope), requested: parseScope(grant.requestedScope) };
  }

  /**
   * Locks these grants until the end of the transaction, by a write that changes nothing: SQLite has no other lock. False when
   * one was revoked or has expired.
   */
  async lock(tx: Transaction, ids: readonly string[], now: Date): Promise<boolean> {
    const statement = `${LOCK_GRANTS} ${placeholdersFor(ids)}`;
    return (await writeRows(tx, statement, [now, ...ids])) === ids.length;
  }

  /** False when it was revoked before. */
  async revoke(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      Grant,
      { id, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }

  /**
   * Revokes those of these grants that were not revoked before, and returns them. Locks them first: of two transactions, each
   * returns its own. `ids` are in ascending order.
   */
  async revokeAll(
    tx: Transaction,
    ids: readonly string[],
    now: Date,
  ): Promise<Pick<Grant, 'id' | 'clientId'>[]> {
    const where = { id: In(ids), revokedAt: IsNull() };
    await entities(tx).update(Grant, where, { scope: unchanged('scope') });
    const revoked = await entities(tx).find(Grant, { select: { id: true, clientId: true }, where });
    await entities(tx).update(Grant, where, { revokedAt: now });
    return revoked;
  }

  /** The user's grants to these apps, or to all, that have an unexpired access token, unused refresh token or unused code. */
  async findLive(userId: string, now: Date, clientIds?: readonly string[]): Promise<LiveGrants[]> {
    const apps = clientIds && padToPowerOfTwo(clientIds);
    const rows = await readRows<LiveGrantsRow>(
      this.dataSource,
      `${FIND_LIVE} ${apps ? `AND grants.client_id IN ${placeholdersFor(apps)}` : ''}
       GROUP BY grants.client_id, apps.name, grants.scope`,
      [userId, now, now, now, now, ...(apps ?? [])],
    );
    return rows.map(({ scope, grantedAt, lastUsedAt, ...row }) => ({
      ...row,
      scopes: parseScope(scope),
      grantedAt: storedTime(grantedAt),
      lastUsedAt: lastUsedAt === null ? null : storedTime(lastUsedAt),
    }));
  }

  /** The user's grants to these apps, or to all, that were not revoked; in ascending order, in which all transactions lock. */
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

  /** Writes the time of last use where the stored one is a minute older. */
  async noteUse(tx: Transaction, ids: readonly string[], at: Date): Promise<void> {
    const values = [at, later(at, -MINUTE), ...ids];
    await writeRows(tx, `${NOTE_USE} ${placeholdersFor(ids)}`, values);
  }
}

interface LiveGrantsRow extends Pick<LiveGrants, 'clientId' | 'name'> {
  scope: string;
  grantedAt: Date | string;
  lastUsedAt: Date | string | null;
}
