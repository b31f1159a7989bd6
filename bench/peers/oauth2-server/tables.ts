import type { Pool } from 'mysql2/promise';
import {
  authorizationCode,
  CLIENT_ID,
  CODE_CHALLENGE,
  REDIRECT_URI,
  refreshToken,
  SCOPES,
  hashCredential,
} from '../../credentials.js';
import { bulkInsert, type SqlValue } from '../../bulk-insert.js';
import { SEEDED_SECONDS, seeds, type TokenTables } from '../token-tables.js';

const HASH = 'hash VARCHAR(64) NOT NULL PRIMARY KEY';
const OWNER = 'client_id VARCHAR(40) NOT NULL, user_id VARCHAR(40) NOT NULL, scope VARCHAR(255)';
const EXPIRY = 'expires_at DATETIME(3) NOT NULL';
const INDEXES = 'INDEX (user_id, client_id), INDEX (expires_at)';

/** Lists are stored as text, separated by spaces. */
const TABLES = {
  oauth2_clients:
    'id VARCHAR(40) NOT NULL PRIMARY KEY, redirect_uris TEXT NOT NULL, grants VARCHAR(255) NOT NULL',
  oauth2_authorization_codes: `${HASH}, ${OWNER}, redirect_uri VARCHAR(2048) NOT NULL,
    code_challenge VARCHAR(128), code_challenge_method VARCHAR(8), ${EXPIRY}, ${INDEXES}`,
  oauth2_access_tokens: `${HASH}, ${OWNER}, ${EXPIRY}, ${INDEXES}`,
  oauth2_refresh_tokens: `${HASH}, ${OWNER}, ${EXPIRY}, ${INDEXES}`,
};

const CREDENTIAL_COLUMNS = ['hash', 'client_id', 'user_id', 'scope', 'expires_at'];
const CODE_COLUMNS = ['redirect_uri', 'code_challenge', 'code_challenge_method'];

export const oauth2Server: TokenTables = {
  accessTokens: 'oauth2_access_tokens',
  clientOf: () => CLIENT_ID,

  async prepare(pool) {
    for (const [table, columns] of Object.entries(TABLES)) {
      await pool.query(`DROP TABLE IF EXISTS ${table}`);
      await pool.query(`CREATE TABLE ${table} (${columns})`);
    }
    await registerClient(pool);
  },

  async seedCodes(pool, userIds, from, count) {
    const rows = seeds(userIds, from, count).map(({ number, userId }) => [
      ...credentialValues(authorizationCode(number), userId),
      REDIRECT_URI,
      CODE_CHALLENGE,
      'S256',
    ]);
    const columns = [...CREDENTIAL_COLUMNS, ...CODE_COLUMNS];
    await bulkInsert(pool, 'oauth2_authorization_codes', columns, rows);
  },

  async seedRefreshTokens(pool, userIds, from, count) {
    const rows = seeds(userIds, from, count).map(({ number, userId }) =>
      credentialValues(refreshToken(number), userId),
    );
    await bulkInsert(pool, 'oauth2_refresh_tokens', CREDENTIAL_COLUMNS, rows);
  },
};

async function registerClient(pool: Pool): Promise<void> {
  const grants = 'authorization_code refresh_token';
  await bulkInsert(
    pool,
    'oauth2_clients',
    ['id', 'redirect_uris', 'grants'],
    [[CLIENT_ID, REDIRECT_URI, grants]],
  );
}

/** The values of `CREDENTIAL_COLUMNS`. */
function credentialValues(credential: string, userId: string): SqlValue[] {
  const expiresAt = new Date(Date.now() + SEEDED_SECONDS * 1000);
  return [hashCredential(credential), CLIENT_ID, userId, SCOPES, utcTimestamp(expiresAt)];
}

/** A UTC timestamp, independent of the time zone of the pool. */
function utcTimestamp(time: Date): string {
  return time.toISOString().slice(0, 23);
}
