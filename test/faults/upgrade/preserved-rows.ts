import type { DataSource } from 'typeorm';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { NO_IDENTITY } from '../../../src/modules/oauth/clients/registration-values.js';
import { User } from '../../../src/modules/users/user.entity.js';
import type { Site } from '../../support/browser.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import type { TestDatabase } from '../../support/database.js';
import { dump, type ReleasedDatabase } from '../../support/released.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';
import type { Publisher } from '../idempotency/idempotent-publish-load.js';

/** Rows of the released database: an unused public app, and a user without posts. */
const CLIENT: TestClient = {
  clientId: 'svc_app_00000000000000000000000001',
  name: 'Garden Share (demo)',
  kind: 'public',
  redirectUris: ['http://127.0.0.1/callback'],
  origins: [],
  scopes: [...SCOPES],
  enabled: true,
  postsHidden: false,
  requiresPkce: true,
  reference: null,
  ...NO_IDENTITY,
  test: false,
  accessTokenSeconds: null,
  createdAt: new Date('2026-11-21T09:30:00Z'),
};
const USER_ID = 'usr_00000000000000000000000002';

/** Signs in the user `USER_ID` through `CLIENT`. Returns them with an access token. */
export async function signInPublisher(
  dataSource: DataSource,
  site: () => Site,
): Promise<Publisher> {
  // Only columns of version 1.0, because the schema may not be migrated yet.
  const stored = await dataSource.manager.findOneOrFail(User, {
    select: { id: true, name: true, phone: true },
    where: { id: USER_ID },
  });
  const user = { ...stored, phone: stored.phone ?? '' };
  const code = (await approve(site(), user, CLIENT)).get('code') ?? '';
  const { access_token: token } = await json<TokenBody>(await exchange(site(), CLIENT, code));
  return { app: { dataSource }, user, client: CLIENT, token };
}

/**
 * Asserts that all rows of the earlier dump are still stored without change.
 * @param changed columns by table that may have changed
 */
export async function expectPreserved(
  database: TestDatabase,
  { rows: original }: ReleasedDatabase,
  changed: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> {
  const { rows } = await dump(database);
  for (const [table, before] of Object.entries(original)) {
    const columns = Object.keys(before[0] ?? {}).filter(
      (column) => !changed[table]?.includes(column),
    );
    const actual = (rows[table] ?? []).map((row) =>
      JSON.stringify(columns.map((column) => row[column])),
    );
    const expected = before.map((row) => JSON.stringify(columns.map((column) => row[column])));
    expect(actual, table).toEqual(expect.arrayContaining(expected));
  }
}
