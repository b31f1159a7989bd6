import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { storedTime } from '../../../platform/database/columns.js';
import { insertRow, placeholdersFor, writeRows } from '../../../platform/database/sql.js';
import { BatchLoader } from '../../../platform/database/batch-loader.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import type { User } from '../../users/user.entity.js';
import { AuthorizationCode, Grant } from './token.entities.js';

/** A stored code with the grant that it belongs to, and the status of its user. */
export interface IssuedCode {
  code: Omit<AuthorizationCode, 'grantId' | 'createdAt'>;
  grant: Pick<Grant, 'id' | 'clientId' | 'userId' | 'scope' | 'expiresAt'>;
  userStatus: User['status'];
  /** Whether the grant is revoked; asked again under its lock. */
  isRevoked: boolean;
}

interface Row extends Pick<Grant, 'clientId' | 'userId' | 'scope'> {
  hash: string;
  redirectUri: string;
  codeChallenge: string | null;
  expiresAt: Date | string;
  consumedAt: Date | string | null;
  grantId: string;
  grantExpiresAt: Date | string;
  grantRevokedAt: Date | string | null;
  userStatus: User['status'];
}

const FIND_CODE = `
  SELECT code.hash, code.redirect_uri AS redirectUri, code.code_challenge AS codeChallenge,
    code.expires_at AS expiresAt, code.consumed_at AS consumedAt,
    grants.id AS grantId, grants.client_id AS clientId, grants.user_id AS userId, grants.scope,
    grants.expires_at AS grantExpiresAt, grants.revoked_at AS grantRevokedAt,
    users.status AS userStatus
  FROM authorization_codes code
  JOIN grants ON grants.id = code.grant_id
  JOIN users ON users.id = grants.user_id
  WHERE`;
const CONSUME_CODES =
  'UPDATE authorization_codes SET consumed_at = ? WHERE consumed_at IS NULL AND expires_at > ? AND hash IN';

@Injectable()
export class AuthorizationCodesRepository {
  private readonly issued: BatchLoader<Row>;

  constructor(dataSource: DataSource) {
    this.issued = new BatchLoader(dataSource, FIND_CODE, { hash: 'code.hash' });
  }

  async insert(tx: Transaction, code: AuthorizationCode): Promise<void> {
    await insertRow(tx, AuthorizationCode, code);
  }

  async find(hash: string): Promise<IssuedCode | null> {
    const row = await this.issued.find(hash);
    if (!row) return null;
    const { redirectUri, codeChallenge, expiresAt, consumedAt, userStatus } = row;
    const { grantId: id, clientId, userId, scope, grantExpiresAt } = row;
    return {
      code: {
        hash,
        redirectUri,
        codeChallenge,
        expiresAt: storedTime(expiresAt),
        consumedAt: consumedAt === null ? null : storedTime(consumedAt),
      },
      grant: { id, clientId, userId, scope, expiresAt: storedTime(grantExpiresAt) },
      userStatus,
      isRevoked: row.grantRevokedAt !== null,
    };
  }

  /** False when one was used or has expired: of two exchanges, one gets tokens (RFC 6749 §4.1.2). */
  async consume(tx: Transaction, hashes: readonly string[], now: Date): Promise<boolean> {
    const statement = `${CONSUME_CODES} ${placeholdersFor(hashes)}`;
    return (await writeRows(tx, statement, [now, now, ...hashes])) === hashes.length;
  }
}
