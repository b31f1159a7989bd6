import { createHash } from 'node:crypto';
import type { Pool } from 'mysql2/promise';
import type { Client, Provider } from 'oidc-provider';
import {
  authorizationCode,
  CLIENT_ID,
  CODE_CHALLENGE,
  REDIRECT_URI,
  refreshToken,
  SCOPES,
} from '../../credentials.js';
import { bulkInsert, type SqlValue } from '../../bulk-insert.js';
import { SEEDED_SECONDS, seeds, type Seed, type TokenTables } from '../token-tables.js';
import { epochSeconds, schema, tableOf } from './model-tables.js';
import { createProvider } from './provider.js';

/** `prepare` registers no client: the configuration of the provider has it. */
export const oidcProvider: TokenTables = {
  accessTokens: tableOf('AccessToken').name,
  clientOf: () => CLIENT_ID,

  async prepare(pool) {
    for (const statement of schema()) await pool.query(statement);
  },

  async seedCodes(pool, userIds, from, count) {
    await saveAll(pool, seeds(userIds, from, count), async (provider, client, seed) => {
      const code = new provider.AuthorizationCode({
        ...(await saveGrant(provider, client, 'code', seed)),
        jti: authorizationCode(seed.number),
        redirectUri: REDIRECT_URI,
        codeChallenge: CODE_CHALLENGE,
        codeChallengeMethod: 'S256',
      });
      await code.save();
    });
  },

  async seedRefreshTokens(pool, userIds, from, count) {
    await saveAll(pool, seeds(userIds, from, count), async (provider, client, seed) => {
      const token = new provider.RefreshToken({
        ...(await saveGrant(provider, client, 'refresh', seed)),
        jti: refreshToken(seed.number),
        rotations: 0,
      });
      await token.save();
    });
  },
};

/** Saves a grant for one code or refresh token. Returns the properties of this credential that both kinds have. */
async function saveGrant(
  provider: Provider,
  client: Client,
  kind: 'code' | 'refresh',
  { number, userId }: Seed,
) {
  const grant = new provider.Grant({ accountId: userId, clientId: CLIENT_ID });
  grant.jti = identifier(`grant of ${kind} ${number}`);
  grant.addOIDCScope(SCOPES);
  return {
    client,
    accountId: userId,
    authTime: epochSeconds(),
    grantId: await grant.save(),
    gty: 'authorization_code',
    scope: SCOPES,
    sessionUid: identifier(`session of ${userId}`),
    expiresIn: SEEDED_SECONDS,
  };
}

/** Collects the rows of the library's models and inserts them in bulk. */
async function saveAll(
  pool: Pool,
  all: readonly Seed[],
  save: (provider: Provider, client: Client, seed: Seed) => Promise<void>,
): Promise<void> {
  const rows = new Map<string, SqlValue[][]>();
  const provider = createProvider({
    issuer: 'http://127.0.0.1',
    adapter: (model) => collector(model, rows),
    findAccount: () => undefined,
  });
  const client = await provider.Client.find(CLIENT_ID);
  if (!client) throw new Error('The provider has no client.');
  for (const seed of all) await save(provider, client, seed);
  for (const [model, modelRows] of rows) {
    const { name, columns } = tableOf(model);
    await bulkInsert(pool, name, columns, modelRows);
  }
}

const unused = async (): Promise<undefined> => undefined;

/** An adapter that collects the rows of saved objects and finds none. */
function collector(model: string, rows: Map<string, SqlValue[][]>) {
  const modelRows: SqlValue[][] = [];
  rows.set(model, modelRows);
  const table = tableOf(model);
  return {
    upsert: async (...[id, payload, expiresIn]: Parameters<typeof table.row>) => {
      modelRows.push(table.row(id, payload, expiresIn));
    },
    find: unused,
    findByUid: unused,
    findByUserCode: unused,
    consume: unused,
    destroy: unused,
    revokeByGrantId: unused,
  };
}

/** A deterministic id in the format of the library. */
function identifier(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}
