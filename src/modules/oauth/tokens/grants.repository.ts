import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, type SelectQueryBuilder } from 'typeorm';
import { later, MINUTE } from '../../../platform/clock.js';
import { parseScope, type Scope } from '../../../platform/access/scopes.js';
import { storedTime } from '../../../platform/database/columns.js';
import {
  insertRow,
  placeholdersFor,
  unchanged,
  writeRows,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { App } from '../clients/client.entities.js';
import { AccessToken, AuthorizationCode, Grant, RefreshToken } from './token.entities.js';

/** The grants of a user to an app that have the same scopes and open something, or can be made to. */
export interface LiveGrants {
  clientId: string;
  name: string;
  scopes: Scope[];
  /** The first of them. */
  grantedAt: Date;
  /** The last use of any of them. */
  lastUsedAt: Date | null;
}

/** What opens something, or is exchanged for what does, with the column that is null until it is of no use any more. */
const CREDENTIALS = [
  [RefreshToken, 'consumedAt'],
  [AccessToken, 'revokedAt'],
  [AuthorizationCode, 'consumedAt'],
] as const;

const LOCK_GRANTS =
  'UPDATE grants SET scope = scope WHERE revoked_at IS NULL AND expires_at > ? AND id IN';

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, grant: Grant): Promise<void> {
    await insertRow(tx, Grant, grant);
  }

  /** What the user allowed this app last time, or null the first time. */
  async findLatestChoice(
    userId: string,
    clientId: string,
  ): Promise<{ granted: Scope[]; requested: Scope[] } | null> {
    const grant = await this.dataSource.manager.findOne(Grant, {
      select: { id: true, scope: true, requestedScope: true },
      where: { userId, clientId, revokedAt: IsNull() },
      order: { id: 'DESC' },
    });
    return (
      grant && {
        granted: parseScope(grant.scope),
        requested: parseScope(grant.requestedScope),
      }
    );
  }

  /**
   * Holds the rows of these grants until the unit ends: until then nobody revokes them, and nobody else gives out tokens of
   * them. False when one was revoked or has expired. A write that changes nothing, because SQLite has no other lock.
   */
  async lock(tx: Transaction, ids: readonly string[], now: Date): Promise<boolean> {
    return (
      (await writeRows(tx, `${LOCK_GRANTS} ${placeholdersFor(ids)}`, [now, ...ids])) === ids.length
    );
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
   * Revokes these grants, which come in the order of their ids, but for those that were revoked before. They are locked
   * first, so that of two units each tells its own. Three statements.
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

  /**
   * The user's grants that are neither revoked nor expired, to these apps or to all, and that have something left which
   * opens the API or can be exchanged for it: an access token, an unused refresh token or an unused code.
   */
  async findLive(userId: string, now: Date, clientIds?: readonly string[]): Promise<LiveGrants[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(Grant, 'grant')
      .innerJoin(App, 'app', 'app.clientId = grant.clientId')
      .where('grant.userId = :userId', { userId })
      .andWhere('grant.revokedAt IS NULL')
      .andWhere('grant.expiresAt > :now', { now });
    if (clientIds) query.andWhere('grant.clientId IN (:...clientIds)', { clientIds });
    const rows = await query
      .andWhere(hasCredential(query))
      .select('grant.clientId', 'clientId')
      .addSelect('app.name', 'name')
      .addSelect('grant.scope', 'scope')
      .addSelect('MIN(grant.createdAt)', 'grantedAt')
      .addSelect('MAX(grant.lastUsedAt)', 'lastUsedAt')
      .groupBy('grant.clientId')
      .addGroupBy('app.name')
      .addGroupBy('grant.scope')
      .getRawMany<RawLiveGrants>();
    return rows.map(({ scope, grantedAt, lastUsedAt, ...row }) => ({
      ...row,
      scopes: parseScope(scope),
      grantedAt: storedTime(grantedAt),
      lastUsedAt: lastUsedAt === null ? null : storedTime(lastUsedAt),
    }));
  }

  /** The ids of the user's grants that were not revoked, to these apps or to all, in the order in which everybody locks grants. */
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

  /** Notes that these grants were used at `at`, where nothing of the minute before is noted. */
  async noteUse(tx: Transaction, ids: readonly string[], at: Date): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .update(Grant)
      .set({ lastUsedAt: at })
      .where('id IN (:...ids)', { ids })
      .andWhere('(lastUsedAt IS NULL OR lastUsedAt <= :minuteAgo)', {
        minuteAgo: later(at, -MINUTE),
      })
      .execute();
  }
}

/** Whether the grant of `query` has a credential that is of use at `:now`. */
function hasCredential(query: SelectQueryBuilder<Grant>): string {
  const conditions = CREDENTIALS.map(([entity, end]) => {
    const credential = query
      .subQuery()
      .select('1')
      .from<AccessToken | RefreshToken | AuthorizationCode>(entity, 'credential')
      .where('credential.grantId = grant.id')
      .andWhere(`credential.${end} IS NULL`)
      .andWhere('credential.expiresAt > :now');
    return `EXISTS ${credential.getQuery()}`;
  });
  return `(${conditions.join(' OR ')})`;
}

interface RawLiveGrants extends Omit<LiveGrants, 'scopes' | 'grantedAt' | 'lastUsedAt'> {
  scope: string;
  grantedAt: Date | string;
  lastUsedAt: Date | string | null;
}
