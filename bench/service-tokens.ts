import { newId } from '../src/platform/ids.js';
import {
  authorizationCode,
  CODE_CHALLENGE,
  REDIRECT_URI,
  refreshToken,
  SCOPES,
  hashCredential,
  TOKEN_CLIENT_IDS,
} from './credentials.js';
import { insertRows } from './insert-rows.js';
import { SEEDED_SECONDS, seeds, type TokenTables } from './peers/token-tables.js';

/** The tables of the service, which its migrations create. */
export const SERVICE_TOKENS: TokenTables = {
  accessTokens: 'access_tokens',
  prepare: async () => undefined,
  clientOf,
  seedCodes: async (pool, userIds, from, count) => {
    const grantIds = await seedGrants(pool, userIds, from, count);
    const { now, later } = times();
    const codes = grantIds.map((grantId, index) => ({
      hash: hashCredential(authorizationCode(from + index)),
      grant_id: grantId,
      redirect_uri: REDIRECT_URI,
      code_challenge: CODE_CHALLENGE,
      created_at: now,
      expires_at: later,
    }));
    await insertRows(pool, 'authorization_codes', codes);
  },
  seedRefreshTokens: async (pool, userIds, from, count) => {
    const grantIds = await seedGrants(pool, userIds, from, count);
    const { now, later } = times();
    const tokens = grantIds.map((grantId, index) => ({
      hash: hashCredential(refreshToken(from + index)),
      grant_id: grantId,
      created_at: now,
      expires_at: later,
    }));
    await insertRows(pool, 'refresh_tokens', tokens);
  },
};

function clientOf(number: number): string {
  return TOKEN_CLIENT_IDS[number % TOKEN_CLIENT_IDS.length] as string;
}

async function seedGrants(
  ...[pool, userIds, from, count]: Parameters<TokenTables['seedCodes']>
): Promise<string[]> {
  const { now, later } = times();
  const grants = seeds(userIds, from, count).map(({ userId, number }) => ({
    id: newId('grt', now),
    user_id: userId,
    client_id: clientOf(number),
    scope: SCOPES,
    requested_scope: SCOPES,
    created_at: now,
    expires_at: later,
  }));
  await insertRows(pool, 'grants', grants);
  return grants.map(({ id }) => id);
}

function times(): { now: Date; later: Date } {
  const now = new Date();
  return { now, later: new Date(now.getTime() + SEEDED_SECONDS * 1000) };
}
