import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import { storedTime } from '../../../platform/database/columns.js';
import { insertAll, placeholdersFor, writeRows } from '../../../platform/database/sql.js';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import type { AppQuota } from '../../quota/quota.entities.js';
import type { User } from '../../users/user.entity.js';
import type { App } from '../clients/client.entities.js';
import { AccessToken, RefreshToken } from './token.entities.js';

/** Everything that decides whether an access token opens something, from one statement. */
export interface StoredAccess {
  scope: string;
  expiresAt: Date;
  revokedAt: Date | null;
  grantId: string;
  grantRevokedAt: Date | null;
  userId: string;
  userStatus: User['status'];
  clientId: string;
  appStatus: App['status'];
  quota: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null;
}

/** A refresh token with its grant and user, from one statement. Whether the grant is alive is asked under its lock. */
export interface StoredRefresh {
  hash: string;
  expiresAt: Date;
  consumedAt: Date | null;
  predecessorHash: string | null;
  grantId: string;
  clientId: string;
  /** Of the grant. */
  scope: string;
  grantExpiresAt: Date;
  userId: string;
  userStatus: User['status'];
  /** Whether the grant is. */
  isRevoked: boolean;
}

/** The rows of an access token and of the refresh token that comes with it. */
export interface TokenPair {
  access: AccessToken;
  refresh: RefreshToken;
}

/** What a used refresh token was answered with, and until when it may be answered so again; null when it may not. */
export type RefreshUse = Pick<RefreshToken, 'sealedAnswer' | 'answerExpiresAt'>;

const FIND_ACCESS = `
  SELECT token.hash, token.scope, token.expires_at AS expiresAt, token.revoked_at AS revokedAt,
    grants.id AS grantId, grants.revoked_at AS grantRevokedAt,
    users.id AS userId, users.status AS userStatus,
    apps.client_id AS clientId, apps.status AS appStatus,
    app_quotas.plan, app_quotas.monthly_post_limit AS monthlyPostLimit
  FROM access_tokens token
  JOIN grants ON grants.id = token.grant_id
  JOIN apps ON apps.client_id = grants.client_id
  JOIN users ON users.id = grants.user_id
  LEFT JOIN app_quotas ON app_quotas.client_id = grants.client_id
  WHERE`;

const FIND_REFRESH = `
  SELECT token.hash, token.expires_at AS expiresAt, token.consumed_at AS consumedAt,
    token.predecessor_hash AS predecessorHash, grants.id AS grantId, grants.client_id AS clientId,
    grants.scope, grants.expires_at AS grantExpiresAt, grants.revoked_at AS grantRevokedAt,
    users.id AS userId, users.status AS userStatus
  FROM refresh_tokens token
  JOIN grants ON grants.id = token.grant_id
  JOIN users ON users.id = grants.user_id
  WHERE`;
const FORGET_ANSWERS =
  'UPDATE refresh_tokens SET sealed_answer = NULL, answer_expires_at = NULL WHERE hash IN';

@Injectable()
export class TokensRepository {
  private readonly access: BatchLoader<RawAccess>;
  private readonly refresh: BatchLoader<RawRefresh>;

  constructor(dataSource: DataSource) {
    const key = { hash: 'token.hash' };
    this.access = new BatchLoader(dataSource, FIND_ACCESS, key);
    this.refresh = new BatchLoader(dataSource, FIND_REFRESH, key);
  }

  async insertAll(tx: Transaction, pairs: readonly TokenPair[]): Promise<void> {
    const [access, refresh] = [pairs.map((pair) => pair.access), pairs.map((pair) => pair.refresh)];
    await insertAll(tx, AccessToken, access);
    await insertAll(tx, RefreshToken, refresh);
  }

  async findAccess(hash: string): Promise<StoredAccess | null> {
    const row = await this.access.find(hash);
    if (!row) return null;
    const { plan, monthlyPostLimit, expiresAt } = row;
    return {
      ...row,
      expiresAt: storedTime(expiresAt),
      quota: plan === null ? null : { plan, monthlyPostLimit },
    };
  }

  /** False when it was revoked before. */
  async revokeAccess(tx: Transaction, hash: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      AccessToken,
      { hash, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }

  async isRevoked(tx: Transaction, accessHash: string): Promise<boolean> {
    return entities(tx).existsBy(AccessToken, { hash: accessHash, revokedAt: Not(IsNull()) });
  }

  async findRefresh(hash: string): Promise<StoredRefresh | null> {
    const row = await this.refresh.find(hash);
    if (!row) return null;
    const { expiresAt, consumedAt, grantExpiresAt, grantRevokedAt, ...stored } = row;
    return {
      ...stored,
      isRevoked: grantRevokedAt !== null,
      expiresAt: storedTime(expiresAt),
      consumedAt: consumedAt === null ? null : storedTime(consumedAt),
      grantExpiresAt: storedTime(grantExpiresAt),
    };
  }

  /** What came of the use of a refresh token; null when it was not used. */
  findUse(tx: Transaction, hash: string): Promise<RefreshUse | null> {
    return entities(tx).findOne(RefreshToken, {
      select: { hash: true, sealedAnswer: true, answerExpiresAt: true },
      where: { hash, consumedAt: Not(IsNull()) },
    });
  }

  /**
   * Uses tokens up, each with its sealed answer. False when one was used or has expired: of two refreshes, one gets the
   * successor (RFC 9700 §4.14.2).
   */
  async consumeRefresh(
    tx: Transaction,
    answers: ReadonlyMap<string, string>,
    answerExpiresAt: Date,
    now: Date,
  ): Promise<boolean> {
    const hashes = [...answers.keys()];
    const statement = `
      UPDATE refresh_tokens SET consumed_at = ?, answer_expires_at = ?,
        sealed_answer = CASE hash${' WHEN ? THEN ?'.repeat(hashes.length)} END
      WHERE consumed_at IS NULL AND expires_at > ? AND hash IN ${placeholdersFor(hashes)}`;
    const values = [now, answerExpiresAt, ...[...answers].flat(), now, ...hashes];
    return (await writeRows(tx, statement, values)) === hashes.length;
  }

  /** From now on, who comes back with one of these used tokens gets no answer any more. */
  async forgetAnswers(tx: Transaction, hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0)
      await writeRows(tx, `${FORGET_ANSWERS} ${placeholdersFor(hashes)}`, hashes);
  }
}

interface RawAccess extends Omit<StoredAccess, 'expiresAt' | 'quota'> {
  hash: string;
  expiresAt: Date | string;
  plan: string | null;
  monthlyPostLimit: number | null;
}

interface RawRefresh extends Omit<
  StoredRefresh,
  'expiresAt' | 'consumedAt' | 'grantExpiresAt' | 'isRevoked'
> {
  expiresAt: Date | string;
  consumedAt: Date | string | null;
  grantExpiresAt: Date | string;
  grantRevokedAt: Date | string | null;
}
