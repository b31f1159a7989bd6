import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import type { SavedLocation } from '../../../platform/access/caller.js';
import {
  type Scope,
  type ScopesOfCredential,
  scopesThatCount,
} from '../../../platform/access/scopes.js';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import { type Raw, withDates } from '../../../platform/database/columns.js';
import {
  insertAll,
  insertRow,
  placeholdersFor,
  writeRows,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import type { AppQuota } from '../../quota/quota.entities.js';
import type { User } from '../../users/user.entity.js';
import type { App } from '../clients/client.entities.js';
import { AccessToken, AuthorizationCode, RefreshToken } from './token.entities.js';

/** A code or token with its grant and user, as it is read. `scope` is that of the access token, or what the user granted. */
interface Credential extends ScopesOfCredential {
  hash: string;
  expiresAt: Date;
  grantId: string;
  clientId: string;
  grantRevokedAt: Date | null;
  userId: string;
  userStatus: User['status'];
}

interface SingleUseCredential extends Credential {
  /** When the code or token was used. */
  consumedAt: Date | null;
  grantExpiresAt: Date;
}

type CodeRow = SingleUseCredential & Pick<AuthorizationCode, 'redirectUri' | 'codeChallenge'>;

type RefreshRow = SingleUseCredential & Pick<RefreshToken, 'createdAt' | 'predecessorHash'>;

interface AccessRow
  extends Credential, SavedLocation, Pick<AccessToken, 'createdAt' | 'revokedAt'> {
  appStatus: App['status'];
  /** Whether the app is a test app. */
  isTest: 0 | 1;
  plan: string | null;
  monthlyPostLimit: number | null;
}

type Stored<C extends Credential> = C & {
  /** Those of `scope` that still count: the user did not withdraw them, and the app is registered for them. */
  scopes: Scope[];
  /** Whether the grant, or the access token itself, is revoked. */
  isRevoked: boolean;
};

export type StoredCode = Stored<CodeRow>;

export type StoredRefreshToken = Stored<RefreshRow> & { kind: 'refresh' };

type StoredAccessToken = Stored<AccessRow> & {
  kind: 'access';
  quota: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null;
};

export type StoredToken = StoredAccessToken | StoredRefreshToken;

/** The rows of an access token and of the refresh token that is issued with it. */
export interface TokenPair {
  access: AccessToken;
  refresh: RefreshToken;
}

export type UsedRefreshToken = RefreshToken & { consumedAt: Date };

const CREDENTIAL_COLUMNS = `
    credential.hash, credential.expires_at AS expiresAt,
    grants.id AS grantId, grants.client_id AS clientId, grants.revoked_at AS grantRevokedAt,
    grants.withdrawn_scope AS withdrawnScope, apps.scope AS appScope,
    users.id AS userId, users.status AS userStatus`;
const SINGLE_USE_COLUMNS = `${CREDENTIAL_COLUMNS}, credential.consumed_at AS consumedAt,
    grants.scope, grants.expires_at AS grantExpiresAt`;
/* A test app acts for test members only, and a real app for real ones, even if version 1.1 or an operator created another grant. */
const CREDENTIAL_JOINS = `
  JOIN grants ON grants.id = credential.grant_id
  JOIN apps ON apps.client_id = grants.client_id
  JOIN users ON users.id = grants.user_id
    AND (users.test_code_hash IS NOT NULL) = (apps.test <> 0)`;

// BatchLoader appends the condition to these SELECTs.
const FIND_CODE = `
  SELECT ${SINGLE_USE_COLUMNS}, credential.redirect_uri AS redirectUri,
    credential.code_challenge AS codeChallenge
  FROM authorization_codes credential ${CREDENTIAL_JOINS}
  WHERE`;
const FIND_ACCESS = `
  SELECT ${CREDENTIAL_COLUMNS}, credential.scope, credential.created_at AS createdAt,
    credential.revoked_at AS revokedAt, apps.status AS appStatus, apps.test AS isTest,
    users.latitude, users.longitude, users.neighborhood,
    app_quotas.plan, app_quotas.monthly_post_limit AS monthlyPostLimit
  FROM access_tokens credential ${CREDENTIAL_JOINS}
  LEFT JOIN app_quotas ON app_quotas.client_id = grants.client_id
  WHERE`;
const FIND_REFRESH = `
  SELECT ${SINGLE_USE_COLUMNS}, credential.created_at AS createdAt,
    credential.predecessor_hash AS predecessorHash
  FROM refresh_tokens credential ${CREDENTIAL_JOINS}
  WHERE`;

const BY_HASH = { hash: 'credential.hash' };

const CONSUME_CODES =
  'UPDATE authorization_codes SET consumed_at = ? WHERE consumed_at IS NULL AND expires_at > ? AND hash IN';
// The columns keep their names of version 1.0.
const CLEAR_RESPONSES =
  'UPDATE refresh_tokens SET sealed_answer = NULL, answer_expires_at = NULL WHERE hash IN';

/** Codes, access tokens and refresh tokens. */
@Injectable()
export class TokensRepository {
  private readonly codes: BatchLoader<Raw<CodeRow>>;
  private readonly access: BatchLoader<Raw<AccessRow>>;
  private readonly refresh: BatchLoader<Raw<RefreshRow>>;

  constructor(dataSource: DataSource) {
    this.codes = new BatchLoader(dataSource, FIND_CODE, BY_HASH);
    this.access = new BatchLoader(dataSource, FIND_ACCESS, BY_HASH);
    this.refresh = new BatchLoader(dataSource, FIND_REFRESH, BY_HASH);
  }

  async insertCode(tx: Transaction, code: AuthorizationCode): Promise<void> {
    await insertRow(tx, AuthorizationCode, code);
  }

  async findCode(hash: string): Promise<StoredCode | null> {
    const row = await this.codes.find(hash);
    return row ? stored<CodeRow>(row) : null;
  }

  /** Returns false if a code was used or has expired. Of two concurrent exchanges of a code, one gets tokens (RFC 6749 §4.1.2). */
  async consumeCodes(tx: Transaction, hashes: readonly string[], now: Date): Promise<boolean> {
    const statement = `${CONSUME_CODES} ${placeholdersFor(hashes)}`;
    return (await writeRows(tx, statement, [now, now, ...hashes])) === hashes.length;
  }

  async insertPairs(tx: Transaction, pairs: readonly TokenPair[]): Promise<void> {
    const access = pairs.map((pair) => pair.access);
    const refresh = pairs.map((pair) => pair.refresh);
    await insertAll(tx, AccessToken, access);
    await insertAll(tx, RefreshToken, refresh);
  }

  /** Finds an access or refresh token; its prefix shows the kind. */
  async find(token: string): Promise<StoredToken | null> {
    if (hasSecretFormat('svcat', token)) return this.findAccessToken(sha256(token));
    if (hasSecretFormat('svcrt', token)) return this.findRefreshToken(sha256(token));
    return null;
  }

  async findAccessToken(hash: string): Promise<StoredAccessToken | null> {
    const row = await this.access.find(hash);
    if (!row) return null;
    const token = stored<AccessRow>(row);
    const { plan, monthlyPostLimit } = token;
    const isRevoked = token.isRevoked || token.revokedAt !== null;
    const quota = plan === null ? null : { plan, monthlyPostLimit };
    return { ...token, kind: 'access', isRevoked, quota };
  }

  /** Returns false if the token was already revoked. */
  async revokeAccessToken(tx: Transaction, hash: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      AccessToken,
      { hash, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }

  async isAccessTokenRevoked(tx: Transaction, hash: string): Promise<boolean> {
    return entities(tx).existsBy(AccessToken, { hash, revokedAt: Not(IsNull()) });
  }

  async findRefreshToken(hash: string): Promise<StoredRefreshToken | null> {
    const row = await this.refresh.find(hash);
    return row ? { ...stored<RefreshRow>(row), kind: 'refresh' } : null;
  }

  /** Returns null if the token was not used yet. */
  async findUsedRefreshToken(tx: Transaction, hash: string): Promise<UsedRefreshToken | null> {
    const where = { hash, consumedAt: Not(IsNull()) };
    return (await entities(tx).findOneBy(RefreshToken, where)) as UsedRefreshToken | null;
  }

  async hadLateReplay(tx: Transaction, hash: string): Promise<boolean> {
    return entities(tx).existsBy(RefreshToken, { hash, replayedAt: Not(IsNull()) });
  }

  /** @param responseExpiresAt the new end of the retry window */
  async recordLateReplay(
    tx: Transaction,
    hash: string,
    now: Date,
    responseExpiresAt: Date,
  ): Promise<void> {
    await entities(tx).update(RefreshToken, { hash }, { replayedAt: now, responseExpiresAt });
  }

  /**
   * Consumes refresh tokens. Returns false if one was used or has expired: of two concurrent refreshes, one creates the successor
   * (RFC 9700 §4.14.2).
   * @param responses the encrypted response to each token, by the hash of the token
   */
  async consumeRefreshTokens(
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

  /** Ends the retry window of these used refresh tokens. */
  async clearResponses(tx: Transaction, hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0)
      await writeRows(tx, `${CLEAR_RESPONSES} ${placeholdersFor(hashes)}`, hashes);
  }
}

function stored<C extends Credential>(row: Raw<C>): Stored<C> {
  const credential = withDates<C>(row);
  const isRevoked = credential.grantRevokedAt !== null;
  return { ...credential, isRevoked, scopes: scopesThatCount(credential) };
}
