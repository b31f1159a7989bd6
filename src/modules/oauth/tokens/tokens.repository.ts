import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import { storedTime } from '../../../platform/database/columns.js';
import {
  insertAll,
  insertRow,
  placeholdersFor,
  writeRows,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import type { AppQuota } from '../../quota/quota.entities.js';
import type { User } from '../../users/user.entity.js';
import type { App } from '../clients/client.entities.js';
import { AccessToken, AuthorizationCode, RefreshToken } from './token.entities.js';

/** A code or token with its grant and user, from one statement. */
interface Credential {
  hash: string;
  expiresAt: Date;
  grantId: string;
  clientId: string;
  userId: string;
  userStatus: User['status'];
  /** Of the access token; otherwise of the grant. */
  scope: string;
  /** Whether the grant, or the access token itself, is revoked. */
  isRevoked: boolean;
}

export interface StoredCode extends Credential {
  redirectUri: string;
  codeChallenge: string | null;
  consumedAt: Date | null;
  grantExpiresAt: Date;
}

export interface StoredAccess extends Credential {
  kind: 'access';
  createdAt: Date;
  appStatus: App['status'];
  quota: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null;
}

export interface StoredRefresh extends Credential {
  kind: 'refresh';
  createdAt: Date;
  isConsumed: boolean;
  predecessorHash: string | null;
  grantExpiresAt: Date;
}

export type StoredToken = StoredAccess | StoredRefresh;

/** The rows of an access token and of the refresh token that is issued with it. */
export interface TokenPair {
  access: AccessToken;
  refresh: RefreshToken;
}

/** The encrypted response to a used refresh token, until it expires. */
export type RefreshUse = Pick<RefreshToken, 'encryptedResponse' | 'responseExpiresAt'>;

type Time = Date | string;

/** A row as the drivers return it: times are for `storedTime`. */
interface CredentialRow extends Omit<Credential, 'expiresAt' | 'isRevoked'> {
  expiresAt: Time;
  grantRevokedAt: Time | null;
}

interface CodeRow extends CredentialRow {
  redirectUri: string;
  codeChallenge: string | null;
  consumedAt: Time | null;
  grantExpiresAt: Time;
}

interface AccessRow extends CredentialRow {
  createdAt: Time;
  revokedAt: Time | null;
  appStatus: App['status'];
  plan: string | null;
  monthlyPostLimit: number | null;
}

interface RefreshRow extends CredentialRow {
  createdAt: Time;
  consumedAt: Time | null;
  predecessorHash: string | null;
  grantExpiresAt: Time;
}

const GRANT_COLUMNS = `
    grants.id AS grantId, grants.client_id AS clientId, grants.revoked_at AS grantRevokedAt,
    users.id AS userId, users.status AS userStatus`;

const FIND_CODE = `
  SELECT code.hash, code.redirect_uri AS redirectUri, code.code_challenge AS codeChallenge,
    code.expires_at AS expiresAt, code.consumed_at AS consumedAt, grants.scope,
    grants.expires_at AS grantExpiresAt, ${GRANT_COLUMNS}
  FROM authorization_codes code
  JOIN grants ON grants.id = code.grant_id
  JOIN users ON users.id = grants.user_id
  WHERE`;
const FIND_ACCESS = `
  SELECT token.hash, token.scope, token.created_at AS createdAt, token.expires_at AS expiresAt,
    token.revoked_at AS revokedAt, apps.status AS appStatus,
    app_quotas.plan, app_quotas.monthly_post_limit AS monthlyPostLimit, ${GRANT_COLUMNS}
  FROM access_tokens token
  JOIN grants ON grants.id = token.grant_id
  JOIN apps ON apps.client_id = grants.client_id
  JOIN users ON users.id = grants.user_id
  LEFT JOIN app_quotas ON app_quotas.client_id = grants.client_id
  WHERE`;
const FIND_REFRESH = `
  SELECT token.hash, token.created_at AS createdAt, token.expires_at AS expiresAt,
    token.consumed_at AS consumedAt, token.predecessor_hash AS predecessorHash, grants.scope,
    grants.expires_at AS grantExpiresAt, ${GRANT_COLUMNS}
  FROM refresh_tokens token
  JOIN grants ON grants.id = token.grant_id
  JOIN users ON users.id = grants.user_id
  WHERE`;

const CONSUME_CODES =
  'UPDATE authorization_codes SET consumed_at = ? WHERE consumed_at IS NULL AND expires_at > ? AND hash IN';
const DELETE_RESPONSES =
  'UPDATE refresh_tokens SET sealed_answer = NULL, answer_expires_at = NULL WHERE hash IN';

/** Codes, access tokens and refresh tokens. */
@Injectable()
export class TokensRepository {
  private readonly codes: BatchLoader<CodeRow>;
  private readonly access: BatchLoader<AccessRow>;
  private readonly refresh: BatchLoader<RefreshRow>;

  constructor(dataSource: DataSource) {
    this.codes = new BatchLoader(dataSource, FIND_CODE, { hash: 'code.hash' });
    this.access = new BatchLoader(dataSource, FIND_ACCESS, { hash: 'token.hash' });
    this.refresh = new BatchLoader(dataSource, FIND_REFRESH, { hash: 'token.hash' });
  }

  async insertCode(tx: Transaction, code: AuthorizationCode): Promise<void> {
    await insertRow(tx, AuthorizationCode, code);
  }

  async findCode(hash: string): Promise<StoredCode | null> {
    const row = await this.codes.find(hash);
    return row
      ? {
          ...row,
          expiresAt: storedTime(row.expiresAt),
          consumedAt: row.consumedAt === null ? null : storedTime(row.consumedAt),
          grantExpiresAt: storedTime(row.grantExpiresAt),
          isRevoked: row.grantRevokedAt !== null,
        }
      : null;
  }

  /** False when one was used or has expired: of two exchanges, one gets tokens (RFC 6749 §4.1.2). */
  async consumeCodes(tx: Transaction, hashes: readonly string[], now: Date): Promise<boolean> {
    const statement = `${CONSUME_CODES} ${placeholdersFor(hashes)}`;
    return (await writeRows(tx, statement, [now, now, ...hashes])) === hashes.length;
  }

  async insertAll(tx: Transaction, pairs: readonly TokenPair[]): Promise<void> {
    const [access, refresh] = [pairs.map((pair) => pair.access), pairs.map((pair) => pair.refresh)];
    await insertAll(tx, AccessToken, access);
    await insertAll(tx, RefreshToken, refresh);
  }

  /** The access or refresh token with this value; its prefix says which. */
  async find(token: string): Promise<StoredToken | null> {
    if (isSecret('svcat', token)) return this.findAccess(sha256(token));
    if (isSecret('svcrt', token)) return this.findRefresh(sha256(token));
    return null;
  }

  async findAccess(hash: string): Promise<StoredAccess | null> {
    const row = await this.access.find(hash);
    if (!row) return null;
    const { plan, monthlyPostLimit } = row;
    return {
      ...row,
      kind: 'access',
      createdAt: storedTime(row.createdAt),
      expiresAt: storedTime(row.expiresAt),
      isRevoked: row.revokedAt !== null || row.grantRevokedAt !== null,
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
    return row
      ? {
          ...row,
          kind: 'refresh',
          createdAt: storedTime(row.createdAt),
          expiresAt: storedTime(row.expiresAt),
          isConsumed: row.consumedAt !== null,
          grantExpiresAt: storedTime(row.grantExpiresAt),
          isRevoked: row.grantRevokedAt !== null,
        }
      : null;
  }

  /** Null when the refresh token was not used. */
  findUse(tx: Transaction, hash: string): Promise<RefreshUse | null> {
    return entities(tx).findOne(RefreshToken, {
      select: { hash: true, encryptedResponse: true, responseExpiresAt: true },
      where: { hash, consumedAt: Not(IsNull()) },
    });
  }

  /**
   * Consumes refresh tokens and stores the encrypted response to each, by its hash. False when one was used or has expired: of
   * two refreshes, one gets the successor (RFC 9700 §4.14.2).
   */
  async consumeRefresh(
    tx: Transaction,
    responses: ReadonlyMap<string, string>,
    responsesExpireAt: Date,
    now: Date,
  ): Promise<boolean> {
    const hashes = [...responses.keys()];
    const statement = `
      UPDATE refresh_tokens SET consumed_at = ?, answer_expires_at = ?,
        sealed_answer = CASE hash${' WHEN ? THEN ?'.repeat(hashes.length)} END
      WHERE consumed_at IS NULL AND expires_at > ? AND hash IN ${placeholdersFor(hashes)}`;
    const values = [now, responsesExpireAt, ...[...responses].flat(), now, ...hashes];
    return (await writeRows(tx, statement, values)) === hashes.length;
  }

  /** Ends the replay window of these used refresh tokens. */
  async deleteResponses(tx: Transaction, hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0)
      await writeRows(tx, `${DELETE_RESPONSES} ${placeholdersFor(hashes)}`, hashes);
  }
}
