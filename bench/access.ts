import type { Pool } from 'mysql2/promise';
import { newId } from '../src/platform/ids.js';
import { accessToken, CLIENT_ID, REDIRECT_URI, SCOPES, hashCredential } from './credentials.js';
import { insertRows } from './insert-rows.js';

const DAY_MS = 86_400_000;
/** Monthly post limit: never reached, but checked like any limit. */
const MONTHLY_LIMIT = 10_000_000;

/** Registers an app. */
export async function insertApp(pool: Pool, clientId = CLIENT_ID): Promise<void> {
  const app = { client_id: clientId, name: 'Benchmark', kind: 'public', scope: SCOPES };
  await insertRows(pool, 'apps', [{ ...app, status: 'enabled', created_at: new Date() }]);
  await insertRows(pool, 'app_redirect_uris', [
    { client_id: clientId, position: 0, uri: REDIRECT_URI },
  ]);
  await insertRows(pool, 'app_quotas', [
    { client_id: clientId, plan: 'custom', monthly_post_limit: MONTHLY_LIMIT },
  ]);
}

/**
 * Gives each user a grant to an app and an access token. The index of the user in `userIds` selects the app, by `clientOf`, and
 * is the number of the access token.
 */
export async function insertGrants(
  pool: Pool,
  userIds: readonly string[],
  clientOf: (index: number) => string = () => CLIENT_ID,
): Promise<void> {
  const start = new Date(Date.now() - DAY_MS);
  const expires = new Date(Date.now() + 365 * DAY_MS);
  const grants = userIds.map((userId, index) => ({
    id: newId('grt', start),
    user_id: userId,
    client_id: clientOf(index),
    scope: SCOPES,
    requested_scope: SCOPES,
    created_at: start,
    expires_at: expires,
  }));
  await insertRows(pool, 'grants', grants);
  const tokens = grants.map(({ id }, index) => ({
    hash: hashCredential(accessToken(index)),
    grant_id: id,
    scope: SCOPES,
    created_at: start,
    expires_at: expires,
  }));
  await insertRows(pool, 'access_tokens', tokens);
}
