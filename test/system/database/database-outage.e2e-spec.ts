import Sqlite from 'better-sqlite3';
import mysql from 'mysql2/promise';
import { type Page, Browser } from '../../support/browser.js';
import {
  approve,
  authorizeLink,
  exchange,
  sendForm,
  sendRefresh,
} from '../../support/oauth-flow.js';
import { onEachEngine, onEachServer, onSqlite } from '../../support/database.js';
import { IS_QUICK } from '../../suite.js';
import type { PageBody } from '../../support/member.js';
import { type ErrorBody, expectPage, expectTokenError, json } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp, type TestClient, useTestApp, withoutTable } from '../../support/test-app.js';

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

type Send = (app: TestApp, state: ClientState) => Promise<Response | Page>;

const UNKNOWN = 'x'.repeat(43);
const DECISION = { scope: ['posts.read'], decision: 'approve' };

/** Requests that need the database. */
const REQUESTS = {
  exchange: (app, { client, code }) => exchange(app, client, code),
  'exchange with a wrong secret': (app, { client, code }) =>
    exchange(app, client, code, { client_secret: 'wrong' }),
  'exchange of an unknown code': (app, { client }) => exchange(app, client, `svcac_${UNKNOWN}`),
  refresh: (app, { client, tokens }) => sendRefresh(app, client, tokens.refreshToken),
  revocation: (app, { client, tokens }) =>
    sendForm(app, '/oauth/revoke', client, { token: tokens.accessToken }),
  introspection: (app, { client, tokens }) =>
    sendForm(app, '/oauth/introspect', client, { token: tokens.accessToken }),
  'authorization request': (app, { client }) => new Browser(app).open(authorizeLink(client)),
  decision: (_, { visitor, consent }) =>
    visitor.submit(consent, '/oauth/authorize/decision', DECISION),
  read: (app, { tokens }) => app.call(tokens.accessToken, 'GET', '/me'),
  'read with an unknown token': (app) => app.call(`svcat_${UNKNOWN}`, 'GET', '/me'),
  post: (app, { tokens }) => app.call(tokens.accessToken, 'POST', '/posts', { content: 'Hi' }),
} satisfies Record<string, Send>;

type Request = keyof typeof REQUESTS;

const ALL_REQUESTS = Object.keys(REQUESTS) as Request[];

/** The errors of the authorization server and of the API. */
const ERRORS = {
  500: ['server_error', 'internal_error'],
  503: ['temporarily_unavailable', 'service_unavailable'],
} as const;

/** Sends a request. Expects an error in the format of its endpoint: never 401, and with `Retry-After` if it is temporary. */
async function expectFailure(
  app: TestApp,
  state: ClientState,
  name: Request,
  status: 500 | 503 = 503,
): Promise<void> {
  const response = await REQUESTS[name](app, state);
  const [oauthError, apiError] = ERRORS[status];
  if (status === 503) expect(response.headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/);
  expect(response.headers.get('www-authenticate'), name).toBeNull();
  if ('html' in response) expectPage(response, status);
  else if (new URL(response.url).pathname.startsWith('/oauth/'))
    await expectTokenError(response, oauthError, status);
  else
    expect([response.status, (await json<ErrorBody>(response)).error]).toEqual([status, apiError]);
}

/** Expects that every token, code and form still works, and that nothing was published. */
async function expectAllUsable(app: TestApp, state: ClientState): Promise<void> {
  const posts = await app.call(state.tokens.accessToken, 'GET', '/posts');
  expect((await json<PageBody<object>>(posts)).meta.total).toBe(0);
  expect((await REQUESTS.exchange(app, state)).status).toBe(200);
  expect((await REQUESTS.refresh(app, state)).status).toBe(200);
  expect((await REQUESTS.decision(app, state)).location).toMatch(/[?&]code=svcac_/);
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

    it('O68 O118 returns 503 for every request, with valid and invalid credentials, and consumes nothing', async () => {
      for (const name of ALL_REQUESTS) await expectFailure(app, state, name);
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

  it.each(['exchange', 'refresh'] as const)(
    'O68 consumes nothing if the connection is lost before the COMMIT of the %s',
    async (name) => {
      proxy.cutBeforeStatement('COMMIT');
      await expectFailure(app, state, name);
      await proxy.repair();
      await expectAllUsable(app, state);
    },
  );

  it('O68 returns 503 to fifty concurrent requests, and recovers immediately', async () => {
    await proxy.cut('closed');
    await Promise.all(Array.from({ length: 50 }, () => expectFailure(app, state, 'refresh')));
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
  async function release(): Promise<void> {
    await other.rollback();
    await other.query('UNLOCK TABLES');
  }
  afterEach(release);

  it.each<[Request, string]>([
    ['exchange', 'SELECT * FROM authorization_codes FOR UPDATE'],
    ['exchange', 'SELECT * FROM grants FOR UPDATE'],
    ['refresh', 'SELECT * FROM refresh_tokens FOR UPDATE'],
    ['refresh', 'SELECT * FROM grants FOR UPDATE'],
    // As during an ALTER TABLE.
    ['refresh', 'LOCK TABLES refresh_tokens READ'],
    ['decision', 'SELECT * FROM authorizations FOR UPDATE'],
    ['post', 'SELECT * FROM users FOR UPDATE'],
  ])(
    'O68 O118 returns 503 for a %s that waits after "%s", and consumes nothing',
    async (name, lock) => {
      await other.beginTransaction();
      await other.query(lock);
      await expectFailure(app(), state, name);
      await release();
      await expectAllUsable(app(), state);
    },
  );
});

(IS_QUICK ? onSqlite : onEachEngine)('Internal errors', (database) => {
  const app = useTestApp(database);

  it.each<[Request, string]>([
    ['exchange', 'app_secrets'],
    ['exchange', 'authorization_codes'],
    ['exchange', 'access_tokens'],
    ['refresh', 'grants'],
    ['refresh', 'refresh_tokens'],
    ['refresh', 'access_tokens'],
    ['read', 'access_tokens'],
    ['read', 'grants'],
    ['read', 'users'],
    ['decision', 'grants'],
  ])(
    'O68 O118 returns 500 for a %s without the table %s, and consumes nothing',
    async (name, table) => {
      const state = await prepareState(app());
      await withoutTable(app(), table, () => expectFailure(app(), state, name, 500));
      await expectAllUsable(app(), state);
    },
  );
});

onSqlite('SQLite file locked by another process', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '100' });

  it('O68 O118 returns 503 for writes, serves reads, and consumes nothing', async () => {
    const state = await prepareState(app());
    const other = new Sqlite(database.url.slice('sqlite:'.length));
    try {
      other.exec('BEGIN EXCLUSIVE');
      for (const name of [
        'exchange',
        'refresh',
        'authorization request',
        'decision',
        'post',
      ] as const)
        await expectFailure(app(), state, name);
      expect((await REQUESTS.read(app(), state)).status).toBe(200);
    } finally {
      other.close();
    }
    await expectAllUsable(app(), state);
  });
});
