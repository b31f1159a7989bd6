import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type Scope,
  type ScopesOfCredential,
  scopesThatCount,
} from '../../../platform/access/scopes.js';
import { Clock } from '../../../platform/clock.js';
import {
  type Raw,
  type RawTime,
  storedTime,
  withDates,
} from '../../../platform/database/columns.js';
import { type Paging, type Part, partOf } from '../../../platform/database/list-page.js';
import { readRows, useIndex, type Value } from '../../../platform/database/sql.js';
import { NotFound } from '../../../platform/errors.js';
import { activeAt, IS_ACTIVE, IS_NOT_ENDED } from './grants.repository.js';
import type { Grant } from './token.entities.js';

/**
 * `active`: the app has a usable code or token. `expired`: the grant, or its last token, has expired. `revoked`: the user, the
 * app or an operator ended it.
 */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** A grant with the names of its user and app. */
export interface GrantDetails extends Omit<
  Grant,
  'scope' | 'requestedScope' | 'withdrawnScope' | 'identityHash'
> {
  userName: string;
  appName: string;
  /** Those that still count. */
  scopes: Scope[];
  status: GrantStatus;
}

/** A grant must match all given members. At least one of `userId` and `clientId` must be given. */
export interface GrantSearch {
  userId?: string;
  clientId?: string;
  /** Also expired and revoked grants. */
  includeEnded: boolean;
}

/** The use of an app by its grants. */
export interface GrantUse {
  /** The counted grants. */
  grants: number;
  /** Users with at least one counted grant. */
  users: number;
  /** The last use of any grant of the app, accurate to a minute. Null without one. */
  lastUsedAt: Date | null;
}

/** Grants per statement, so that each takes a fraction of the query timeout. */
const PAGE_SIZE = 10_000;
const SEARCH_PAGE_SIZE = 500;

/** Reads grants for operators. */
@Injectable()
export class GrantReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound */
  async get(id: string): Promise<GrantDetails> {
    const [grant] = await this.read('', { conditions: ['grants.id = ?'], values: [id], limit: 1 });
    if (!grant)
      throw new NotFound(
        `No grant has the id ${id}. "grant list --user" and "grant list --app" with --all print the ids.`,
      );
    return grant;
  }

  /**
   * Newest first. Reads grants that have not ended until enough of them are active: with a condition on the tokens, MySQL and MariaDB
   * would sometimes read all tokens first.
   */
  async find(
    { userId, clientId, includeEnded }: GrantSearch,
    paging: Omit<Paging, 'page'>,
  ): Promise<Part<GrantDetails>> {
    const index = userId === undefined ? 'ix_grants_client_id' : 'ix_grants_user_id';
    const wanted = paging.limit + 1;
    const limit = includeEnded ? wanted : Math.max(wanted, SEARCH_PAGE_SIZE);
    const found: GrantDetails[] = [];
    for (let { before } = paging; ;) {
      const filters: [string, Value | undefined][] = [
        ['grants.user_id = ?', userId],
        ['grants.client_id = ?', clientId],
        ['grants.id < ?', before],
        [IS_NOT_ENDED, includeEnded ? undefined : this.clock.now()],
      ];
      const given = filters.filter((filter): filter is [string, Value] => filter[1] !== undefined);
      const conditions = given.map(([condition]) => condition);
      const values = given.map(([, value]) => value);
      const grants = await this.read(index, { conditions, values, limit });
      found.push(...grants.filter(({ status }) => includeEnded || status === 'active'));
      if (found.length >= wanted || grants.length < limit) return partOf(found, paging);
      before = grants.at(-1)?.id;
    }
  }

  /**
   * Counts the active grants of an app, or those that are neither revoked nor expired, even if their tokens have expired. Reads all of
   * its grants.
   */
  async count(
    clientId: string,
    which: 'active' | 'not ended',
    onProgress: (read: number) => void,
  ): Promise<GrantUse> {
    const now = this.clock.now();
    const [condition, values] =
      which === 'active' ? [IS_ACTIVE, activeAt(now)] : [IS_NOT_ENDED, [now]];
    const statement = `
      SELECT grants.id, grants.user_id AS userId, grants.last_used_at AS lastUsedAt,
        CASE WHEN ${condition} THEN 1 ELSE 0 END AS isCounted
      FROM grants ${useIndex(this.dataSource, 'ix_grants_client_id')}
      WHERE grants.client_id = ? AND grants.id > ?
      ORDER BY grants.id LIMIT ${PAGE_SIZE}`;
    const users = new Set<string>();
    let grants = 0;
    let read = 0;
    let lastUsedAt: RawTime | null = null;
    for (let after = ''; ;) {
      const rows = await readRows<CountedRow>(this.dataSource, statement, [
        ...values,
        clientId,
        after,
      ]);
      for (const row of rows) {
        if (row.isCounted === 1) {
          grants += 1;
          users.add(row.userId);
        }
        if (row.lastUsedAt !== null && (lastUsedAt === null || row.lastUsedAt > lastUsedAt))
          lastUsedAt = row.lastUsedAt;
      }
      read += rows.length;
      onProgress(read);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_SIZE) break;
      after = last.id;
    }
    return {
      grants,
      users: users.size,
      lastUsedAt: lastUsedAt === null ? null : storedTime(lastUsedAt),
    };
  }

  /**
   * The outer joins make every engine find the grants first, then their users and apps.
   * @param index an index of `grants` to use; empty for the primary key. MySQL and MariaDB would sometimes scan the table.
   */
  private async read(
    index: string,
    { conditions, values, limit }: { conditions: string[]; values: Value[]; limit: number },
  ): Promise<GrantDetails[]> {
    const hint = index === '' ? '' : useIndex(this.dataSource, index);
    const rows = await readRows<Raw<GrantRow>>(
      this.dataSource,
      `SELECT grants.id, grants.user_id AS userId, users.name AS userName,
         grants.client_id AS clientId, apps.name AS appName, grants.scope,
         grants.withdrawn_scope AS withdrawnScope, apps.scope AS appScope,
         grants.created_at AS createdAt, grants.last_used_at AS lastUsedAt,
         grants.expires_at AS expiresAt, grants.revoked_at AS revokedAt,
         CASE WHEN ${IS_ACTIVE} THEN 1 ELSE 0 END AS isActive
       FROM (SELECT grants.id FROM grants ${hint} WHERE ${conditions.join(' AND ')}
         ORDER BY grants.id DESC LIMIT ?) page
       LEFT JOIN grants ON grants.id = page.id
       LEFT JOIN users ON users.id = grants.user_id
       LEFT JOIN apps ON apps.client_id = grants.client_id
       ORDER BY page.id DESC`,
      [...activeAt(this.clock.now()), ...values, limit],
    );
    return rows.map(toDetails);
  }
}

interface CountedRow {
  id: string;
  userId: string;
  lastUsedAt: RawTime | null;
  isCounted: 0 | 1;
}

interface GrantRow extends Omit<GrantDetails, 'scopes' | 'status'>, ScopesOfCredential {
  isActive: 0 | 1;
}

function toDetails(row: Raw<GrantRow>): GrantDetails {
  const { scope, withdrawnScope, appScope, isActive, ...grant } = withDates<GrantRow>(row);
  const scopes = scopesThatCount({ scope, withdrawnScope, appScope });
  if (grant.revokedAt !== null) return { ...grant, scopes, status: 'revoked' };
  return { ...grant, scopes, status: isActive === 1 ? 'active' : 'expired' };
}
