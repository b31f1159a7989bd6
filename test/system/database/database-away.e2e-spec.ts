import Sqlite from 'better-sqlite3';
import mysql from 'mysql2/promise';
import { type Page, Browser } from '../../support/browser.js';
import { approve, authorizeLink, exchange, requestToken } from '../../support/oauth-flow.js';
import { onEachEngine, onEachServer, onSqlite } from '../../support/database.js';
import {
  type ErrorBody,
  expectPage,
  expectTokenError,
  json,
  type TokenBody,
} from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp, type TestClient, useTestApp } from '../../support/test-app.js';

/** What an app and a visitor hold when the database goes: none of it may be lost by that. */
interface Possessions {
  client: TestClient;
  code: string;
  tokens: TokenBody;
  visitor: Browser;
  consent: Page;
}

async function possessions(app: TestApp): Promise<Possessions> {
  const client = await app.addClient();
  const newCode = async (): Promise<string> =>
    (await approve(app, await app.addUser(), client)).get('code') ?? '';
  const tokens = await json<TokenBody>(await exchange(app, client, await newCode()));
  const visitor = new Browser(app);
  const consent = await visitor.signIn(authorizeLink(client), await app.addUser());
  return { client, code: await newCode(), tokens, visitor, consent };
}

function refresh(app: TestApp, { client, tokens }: Possessions): Promise<Response> {
  const { refresh_token } = tokens;
  return requestToken(app, client, { grant_type: 'refresh_token', refresh_token });
}

function decide({ visitor, consent }: Possessions): Promise<Page> {
  const fields = { scope: ['posts.read'], decision: 'approve' };
  return visitor.submit(consent, '/oauth/authorize/decision', fields);
}

async function expectUnavailable(answer: Response): Promise<void> {
  await expectTokenError(answer, 'temporarily_unavailable', 503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get('www-authenticate')).toBeNull();
}

async function expectApiUnavailable(answer: Response): Promise<void> {
  const { error } = await json<ErrorBody>(answer);
  expect({ status: answer.status, error }).toEqual({ status: 503, error: 'service_unavailable' });
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get('www-authenticate')).toBeNull();
}

function expectUnavailablePage(page: Page): void {
  expectPage(page, 503);
  expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

/** Nothing was spent: everything that was held does what it would have done. */
async function expectNothingLost(app: TestApp, held: Possessions): Promise<void> {
  expect((await app.call(held.tokens.access_token, 'GET', '/me')).status).toBe(200);
  expect((await exchange(app, held.client, held.code)).status).toBe(200);
  expect((await refresh(app, held)).status).toBe(200);
  const done = await decide(held);
  expect(done.location).toMatch(/[?&]code=svcac_/);
}

onEachServer('While the database server is away', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let held: Possessions;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    const env = { DB_TIMEOUT_MS: '1000', DB_POOL_SIZE: '4' };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
  });
  afterAll(async () => {
    await proxy?.mend();
    await app?.stop();
    await proxy?.stop();
  });
  beforeEach(async () => {
    held = await possessions(app);
  });
  afterEach(() => proxy.mend());

  describe.each(['refused', 'hung up'] as const)('and connections are %s', (how) => {
    beforeEach(() => proxy.cut(how));

    it('O68 The token endpoint is temporarily_unavailable, and blames neither app nor token', async () => {
      const { client, code } = held;
      await expectUnavailable(await exchange(app, client, code));
      await expectUnavailable(await refresh(app, held));
      await expectUnavailable(await exchange(app, client, code, { client_secret: 'wrong' }));
      await expectUnavailable(await exchange(app, client, `svcac_${'x'.repeat(43)}`));
      await proxy.mend();
      await expectNothingLost(app, held);
    });

    it('O68 So are revocation and introspection, and the token lives on', async () => {
      const { client, tokens } = held;
      const body = (): URLSearchParams =>
        new URLSearchParams({
          token: tokens.access_token,
          client_id: client.clientId,
          client_secret: client.secret ?? '',
        });
      for (const path of ['/oauth/revoke', '/oauth/introspect'])
        await expectUnavailable(await app.fetch(path, { method: 'POST', body: body() }));
      await proxy.mend();
      await expectNothingLost(app, held);
    });

    it('O118 The API says 503 to any token, never 401', async () => {
      const { access_token } = held.tokens;
      for (const token of [access_token, `svcat_${'x'.repeat(43)}`])
        await expectApiUnavailable(await app.call(token, 'GET', '/me'));
      await expectApiUnavailable(await app.call(access_token, 'POST', '/posts', { content: 'Hi' }));
      await proxy.mend();
      await expectNothingLost(app, held);
    });

    it('O68 Pages say so, and the decision can be sent again', async () => {
      const { client } = held;
      expectUnavailablePage(await new Browser(app).open(authorizeLink(client)));
      expectUnavailablePage(await decide(held));
      await proxy.mend();
      await expectNothingLost(app, held);
    });

    it('O68 C145 The process lives, is not ready, and is ready again after', async () => {
      expect((await app.fetch('/livez')).status).toBe(200);
      const away = await app.fetch('/readyz');
      expect([away.status, await json(away)]).toEqual([
        503,
        { status: 'not ready', reason: 'the database is away' },
      ]);
      await proxy.mend();
      app.clock.set(new Date().toISOString());
      expect((await app.fetch('/readyz')).status).toBe(200);
    });
  });

  it('O68 An exchange that is cut off before its end spends nothing', async () => {
    proxy.cutBefore('COMMIT');
    await expectUnavailable(await exchange(app, held.client, held.code));
    await proxy.mend();
    await expectNothingLost(app, held);
  });

  it('O68 A refresh that is cut off before its end spends nothing', async () => {
    proxy.cutBefore('COMMIT');
    await expectUnavailable(await refresh(app, held));
    await proxy.mend();
    await expectNothingLost(app, held);
  });

  it('O68 Fifty at once are told, and everything works again right after', async () => {
    await proxy.cut('hung up');
    const many = Array.from({ length: 50 }, () => refresh(app, held));
    for (const answer of await Promise.all(many)) await expectUnavailable(answer);
    await proxy.mend();
    await expectNothingLost(app, held);
  });

  it('O68 A slow network makes answers late, not wrong', async () => {
    proxy.slow(20);
    await expectNothingLost(app, held);
  });
});

onEachServer('While somebody else holds a row', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });
  let held: Possessions;
  let other: mysql.Connection;

  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
  });
  afterAll(() => other?.end());
  beforeEach(async () => {
    held = await possessions(app());
  });
  afterEach(() => other.rollback());

  async function hold(table: string): Promise<void> {
    await other.beginTransaction();
    await other.query(`SELECT * FROM ${table} FOR UPDATE`);
  }

  it.each(['authorization_codes', 'grants'])(
    'O68 An exchange that waits too long for %s is temporarily_unavailable and spends nothing',
    async (table) => {
      await hold(table);
      await expectUnavailable(await exchange(app(), held.client, held.code));
      await other.rollback();
      await expectNothingLost(app(), held);
    },
  );

  it.each(['refresh_tokens', 'grants'])('O68 So is a refresh that waits for %s', async (table) => {
    await hold(table);
    await expectUnavailable(await refresh(app(), held));
    await other.rollback();
    await expectNothingLost(app(), held);
  });

  it('O118 A post that waits for its author is a 503, and was not published', async () => {
    const { access_token } = held.tokens;
    await hold('users');
    await expectApiUnavailable(await app().call(access_token, 'POST', '/posts', { content: 'Hi' }));
    await other.rollback();
    const { meta } = await json<{ meta: { total: number } }>(
      await app().call(access_token, 'GET', '/posts'),
    );
    expect(meta.total).toBe(0);
  });

  it('O68 A refresh that waits for a table, as during an ALTER TABLE, is temporarily_unavailable', async () => {
    await other.query('LOCK TABLES refresh_tokens READ');
    await expectUnavailable(await refresh(app(), held));
    await other.query('UNLOCK TABLES');
    await expectNothingLost(app(), held);
  });

  it('O68 A decision that waits is a 503 page, and can be sent again', async () => {
    await hold('authorizations');
    expectUnavailablePage(await decide(held));
    await other.rollback();
    await expectNothingLost(app(), held);
  });
});

onEachEngine('A fault of our own', (database) => {
  const app = useTestApp(database);
  let held: Possessions;

  beforeEach(async () => {
    held = await possessions(app());
  });

  async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
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
    'O68 Without the table %s an exchange is a server_error and spends nothing',
    async (table) => {
      const answer = await without(table, () => exchange(app(), held.client, held.code));
      await expectTokenError(answer, 'server_error', 500);
      await expectNothingLost(app(), held);
    },
  );

  it.each(['grants', 'refresh_tokens', 'access_tokens'])(
    'O68 Without the table %s so is a refresh',
    async (table) => {
      const answer = await without(table, () => refresh(app(), held));
      await expectTokenError(answer, 'server_error', 500);
      await expectNothingLost(app(), held);
    },
  );

  it.each(['access_tokens', 'grants', 'users'])(
    'O118 Without the table %s the API is at fault, not the token',
    async (table) => {
      const answer = await without(table, () => app().call(held.tokens.access_token, 'GET', '/me'));
      expect([answer.status, (await json<ErrorBody>(answer)).error]).toEqual([
        500,
        'internal_error',
      ]);
      expect(answer.headers.get('www-authenticate')).toBeNull();
      await expectNothingLost(app(), held);
    },
  );

  it('O68 Without the table grants a decision is a 500 page that tells no SQL', async () => {
    expectPage(await without('grants', () => decide(held)), 500);
    await expectNothingLost(app(), held);
  });
});

onSqlite('While another process has locked the file', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '100' });
  let held: Possessions;
  let other: Sqlite.Database;

  beforeEach(async () => {
    held = await possessions(app());
    other = new Sqlite(database.url.slice('sqlite:'.length));
    other.exec('BEGIN EXCLUSIVE');
  });
  afterEach(() => other.close());

  it('O68 The token endpoint is temporarily_unavailable and spends nothing', async () => {
    await expectUnavailable(await exchange(app(), held.client, held.code));
    await expectUnavailable(await refresh(app(), held));
    other.exec('ROLLBACK');
    await expectNothingLost(app(), held);
  });

  it('O118 The API says 503 where it writes, and answers where it reads', async () => {
    const { access_token } = held.tokens;
    await expectApiUnavailable(await app().call(access_token, 'POST', '/posts', { content: 'Hi' }));
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
    other.exec('ROLLBACK');
    await expectNothingLost(app(), held);
  });

  it('O68 Pages say so, and the decision can be sent again', async () => {
    expectUnavailablePage(await new Browser(app()).open(authorizeLink(held.client)));
    expectUnavailablePage(await decide(held));
    other.exec('ROLLBACK');
    await expectNothingLost(app(), held);
  });
});
