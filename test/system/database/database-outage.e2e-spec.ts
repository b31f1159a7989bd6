import Sqlite from 'better-sqlite3';
import mysql from 'mysql2/promise';
import { type Page, Browser } from '../../support/browser.js';
import { approve, authorizeLink, exchange, requestToken } from '../../support/oauth-flow.js';
import { onEachEngine, onEachServer, onSqlite } from '../../support/database.js';
import { type ErrorBody, expectPage, expectTokenError, json } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp, type TestClient, useTestApp } from '../../support/test-app.js';

const NETWORK_DELAY_MS = 20;

/** Credentials and pages that a client and a user have before the database fails. They must still work afterwards. */
interface ClientState {
  client: TestClient;
  code: string;
  tokens: { accessToken: string; refreshToken: string };
  visitor: Browser;
  consent: Page;
}

async function prepareState(app: TestApp): Promise<ClientState> {
  const client = await app.addClient();
  const tokens = await app.issueTokens(await app.addUser(), client);
  const code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
  const visitor = new Browser(app);
  const consent = await visitor.signIn(authorizeLink(client), await app.addUser());
  return { client, code, tokens, visitor, consent };
}

function refresh(app: TestApp, { client, tokens }: ClientState): Promise<Response> {
  return requestToken(app, client, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refreshToken,
  });
}

function decide({ visitor, consent }: ClientState): Promise<Page> {
  const fields = { scope: ['posts.read'], decision: 'approve' };
  return visitor.submit(consent, '/oauth/authorize/decision', fields);
}

async function expectUnavailable(response: Response): Promise<void> {
  await expectTokenError(response, 'temporarily_unavailable', 503);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(response.headers.get('www-authenticate')).toBeNull();
}

async function expectApiUnavailable(response: Response): Promise<void> {
  const { error } = await json<ErrorBody>(response);
  expect({ status: response.status, error }).toEqual({ status: 503, error: 'service_unavailable' });
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(response.headers.get('www-authenticate')).toBeNull();
}

function expectUnavailablePage(page: Page): void {
  expectPage(page, 503);
  expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

/** Expects that every token, code and form still works. */
async function expectAllUsable(app: TestApp, state: ClientState): Promise<void> {
  expect((await app.call(state.tokens.accessToken, 'GET', '/me')).status).toBe(200);
  expect((await exchange(app, state.client, state.code)).status).toBe(200);
  expect((await refresh(app, state)).status).toBe(200);
  const done = await decide(state);
  expect(done.location).toMatch(/[?&]code=svcac_/);
}

onEachServer('Database outage', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let state: ClientState;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    const env = { DB_TIMEOUT_MS: '1000', DB_POOL_SIZE: '4' };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
  });
  afterAll(async () => {
    await proxy?.repair();
    await app?.stop();
    await proxy?.stop();
  });
  beforeEach(async () => {
    state = await prepareState(app);
  });
  afterEach(() => proxy.repair());

  describe.each(['refused', 'closed'] as const)('with connections %s', (how) => {
    beforeEach(() => proxy.cut(how));

    it('O68 returns temporarily_unavailable from the token endpoint, for valid and invalid credentials', async () => {
      const { client, code } = state;
      await expectUnavailable(await exchange(app, client, code));
      await expectUnavailable(await refresh(app, state));
      await expectUnavailable(await exchange(app, client, code, { client_secret: 'wrong' }));
      await expectUnavailable(await exchange(app, client, `svcac_${'x'.repeat(43)}`));
      await proxy.repair();
      await expectAllUsable(app, state);
    });

    it('O68 returns temporarily_unavailable from revocation and introspection, and keeps the token', async () => {
      const { client, tokens } = state;
      const body = (): URLSearchParams =>
        new URLSearchParams({
          token: tokens.accessToken,
          client_id: client.clientId,
          client_secret: client.secret ?? '',
        });
      for (const path of ['/oauth/revoke', '/oauth/introspect'])
        await expectUnavailable(await app.fetch(path, { method: 'POST', body: body() }));
      await proxy.repair();
      await expectAllUsable(app, state);
    });

    it('O118 returns 503 from the API for any token, never 401', async () => {
      const { accessToken } = state.tokens;
      for (const token of [accessToken, `svcat_${'x'.repeat(43)}`])
        await expectApiUnavailable(await app.call(token, 'GET', '/me'));
      await expectApiUnavailable(await app.call(accessToken, 'POST', '/posts', { content: 'Hi' }));
      await proxy.repair();
      await expectAllUsable(app, state);
    });

    it('O68 shows a 503 page, and accepts the decision again afterwards', async () => {
      const { client } = state;
      expectUnavailablePage(await new Browser(app).open(authorizeLink(client)));
      expectUnavailablePage(await decide(state));
      await proxy.repair();
      await expectAllUsable(app, state);
    });

    it('O68 C145 stays alive, is not ready, and is ready again afterwards', async () => {
      expect((await app.fetch('/livez')).status).toBe(200);
      const unready = await app.fetch('/readyz');
      expect([unready.status, await json(unready)]).toEqual([
        503,
        { status: 'not ready', reason: 'the database is unavailable' },
      ]);
      await proxy.repair();
      // A process is ready only if its clock agrees with that of the database.
      app.clock.set(new Date().toISOString());
      expect((await app.fetch('/readyz')).status).toBe(200);
    });
  });

  it('O68 keeps the code if the connection is lost before the COMMIT of an exchange', async () => {
    proxy.cutBeforeStatement('COMMIT');
    await expectUnavailable(await exchange(app, state.client, state.code));
    await proxy.repair();
    await expectAllUsable(app, state);
  });

  it('O68 keeps the refresh token if the connection is lost before the COMMIT of a refresh', async () => {
    proxy.cutBeforeStatement('COMMIT');
    await expectUnavailable(await refresh(app, state));
    await proxy.repair();
    await expectAllUsable(app, state);
  });

  it('O68 returns 503 to fifty concurrent requests, and recovers immediately', async () => {
    await proxy.cut('closed');
    const refreshes = Array.from({ length: 50 }, () => refresh(app, state));
    for (const response of await Promise.all(refreshes)) await expectUnavailable(response);
    await proxy.repair();
    await expectAllUsable(app, state);
  });

  it('O68 returns correct responses over a slow network', async () => {
    proxy.slow(NETWORK_DELAY_MS);
    await expectAllUsable(app, state);
  });
});

onEachServer('Locks of another transaction', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });
  let state: ClientState;
  let other: mysql.Connection;

  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
  });
  afterAll(() => other?.end());
  beforeEach(async () => {
    state = await prepareState(app());
  });
  afterEach(() => other.rollback());

  async function lock(table: string): Promise<void> {
    await other.beginTransaction();
    await other.query(`SELECT * FROM ${table} FOR UPDATE`);
  }

  it.each(['authorization_codes', 'grants'])(
    'O68 returns temporarily_unavailable for an exchange that waits for a locked row of %s, and consumes nothing',
    async (table) => {
      await lock(table);
      await expectUnavailable(await exchange(app(), state.client, state.code));
      await other.rollback();
      await expectAllUsable(app(), state);
    },
  );

  it.each(['refresh_tokens', 'grants'])(
    'O68 returns temporarily_unavailable for a refresh that waits for a locked row of %s, and consumes nothing',
    async (table) => {
      await lock(table);
      await expectUnavailable(await refresh(app(), state));
      await other.rollback();
      await expectAllUsable(app(), state);
    },
  );

  it("O118 returns 503 for a post that waits for its author's locked row, and does not publish it", async () => {
    const { accessToken } = state.tokens;
    await lock('users');
    await expectApiUnavailable(await app().call(accessToken, 'POST', '/posts', { content: 'Hi' }));
    await other.rollback();
    const { meta } = await json<{ meta: { total: number } }>(
      await app().call(accessToken, 'GET', '/posts'),
    );
    expect(meta.total).toBe(0);
  });

  it('O68 returns temporarily_unavailable for a refresh that waits for a locked table, as during an ALTER TABLE', async () => {
    await other.query('LOCK TABLES refresh_tokens READ');
    await expectUnavailable(await refresh(app(), state));
    await other.query('UNLOCK TABLES');
    await expectAllUsable(app(), state);
  });

  it('O68 shows a 503 page for a decision that waits for a locked row, and accepts it again afterwards', async () => {
    await lock('authorizations');
    expectUnavailablePage(await decide(state));
    await other.rollback();
    await expectAllUsable(app(), state);
  });
});

onEachEngine('Internal errors', (database) => {
  const app = useTestApp(database);
  let state: ClientState;

  beforeEach(async () => {
    state = await prepareState(app());
  });

  async function withoutTable<T>(table: string, work: () => Promise<T>): Promise<T> {
    const rename = (from: string, to: string): Promise<unknown> =>
      app().dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);
    await rename(table, `${table}_away`);
    try {
      return await work();
    } finally {
      await rename(`${table}_away`, table);
    }
  }

  it.each(['app_secrets', 'authorization_codes', 'access_tokens'])(
    'O68 returns server_error for an exchange without the table %s, and consumes nothing',
    async (table) => {
      const response = await withoutTable(table, () => exchange(app(), state.client, state.code));
      await expectTokenError(response, 'server_error', 500);
      await expectAllUsable(app(), state);
    },
  );

  it.each(['grants', 'refresh_tokens', 'access_tokens'])(
    'O68 returns server_error for a refresh without the table %s, and consumes nothing',
    async (table) => {
      const response = await withoutTable(table, () => refresh(app(), state));
      await expectTokenError(response, 'server_error', 500);
      await expectAllUsable(app(), state);
    },
  );

  it.each(['access_tokens', 'grants', 'users'])(
    'O118 returns 500 from the API without the table %s, never 401',
    async (table) => {
      const response = await withoutTable(table, () =>
        app().call(state.tokens.accessToken, 'GET', '/me'),
      );
      expect([response.status, (await json<ErrorBody>(response)).error]).toEqual([
        500,
        'internal_error',
      ]);
      expect(response.headers.get('www-authenticate')).toBeNull();
      await expectAllUsable(app(), state);
    },
  );

  it('O68 shows a 500 page without SQL for a decision without the table grants', async () => {
    expectPage(await withoutTable('grants', () => decide(state)), 500);
    await expectAllUsable(app(), state);
  });
});

onSqlite('SQLite file locked by another process', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '100' });
  let state: ClientState;
  let other: Sqlite.Database;

  beforeEach(async () => {
    state = await prepareState(app());
    other = new Sqlite(database.url.slice('sqlite:'.length));
    other.exec('BEGIN EXCLUSIVE');
  });
  afterEach(() => other.close());

  it('O68 returns temporarily_unavailable from the token endpoint, and consumes nothing', async () => {
    await expectUnavailable(await exchange(app(), state.client, state.code));
    await expectUnavailable(await refresh(app(), state));
    other.exec('ROLLBACK');
    await expectAllUsable(app(), state);
  });

  it('O118 returns 503 for writes to the API, and serves reads', async () => {
    const { accessToken } = state.tokens;
    await expectApiUnavailable(await app().call(accessToken, 'POST', '/posts', { content: 'Hi' }));
    expect((await app().call(accessToken, 'GET', '/me')).status).toBe(200);
    other.exec('ROLLBACK');
    await expectAllUsable(app(), state);
  });

  it('O68 shows a 503 page, and accepts the decision again afterwards', async () => {
    expectUnavailablePage(await new Browser(app()).open(authorizeLink(state.client)));
    expectUnavailablePage(await decide(state));
    other.exec('ROLLBACK');
    await expectAllUsable(app(), state);
  });
});
