import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { onEachServer } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';
import { BreakableServer } from '../database-away/breakable-server.js';

/** Of which each server has its part, in which a loaded machine is to connect to it, set the connection up and ask. */
const DB_TIMEOUT_MS = '3000';

/** A `DATABASE_URL` with these hosts, whatever host it had. */
function withHosts(url: string, ...hosts: string[]): string {
  return url.replace(new URL(url).host, hosts.join(','));
}

/** Takes connections and says nothing, like a server that stands still. */
async function silentServer(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Each test has an application of its own, on the same database. */
const join = async (app: TestApp, phone: string): Promise<Member> =>
  Member.join(app, { user: await app.addUser({ phone }) });

onEachServer('Several hosts in DATABASE_URL', ({ engine }) => {
  let database: BreakableServer | undefined;
  const proxies: TcpProxy[] = [];
  let app: TestApp | undefined;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
  }, 180_000);
  afterEach(() => app?.stop());
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await database?.stop();
  });

  it('lead to the one that takes writes, past one that is away and one that is read-only', async ({
    skip,
  }) => {
    if (database === undefined || engine.kind === 'sqlite') return skip();
    const replica = await BreakableServer.start(engine.kind);
    try {
      await replica?.setReadOnly(true);
      const hosts = [`127.0.0.1:${await freePort()}`, new URL(replica?.url ?? '').host];
      const url = withHosts(database.url, ...hosts, new URL(database.url).host);
      app = await TestApp.start({ url }, { DB_TIMEOUT_MS });
      const member = await join(app, '+14155552001');
      expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
      const [row] = await runSql(
        database.server.url,
        'SELECT COUNT(*) AS posts FROM service.posts',
      );
      expect(Number(row?.posts)).toBe(1);
    } finally {
      await replica?.stop();
    }
  }, 180_000);

  it('lead past one that takes connections and says nothing, also at the start', async ({
    skip,
  }) => {
    if (database === undefined) return skip();
    const silent = await silentServer();
    try {
      const { port } = silent.address() as AddressInfo;
      const url = withHosts(database.url, `127.0.0.1:${port}`, new URL(database.url).host);
      app = await TestApp.start({ url }, { DB_TIMEOUT_MS });
      const member = await join(app, '+14155552004');
      expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
    } finally {
      silent.close();
    }
  });

  it('are left one for the other when one dies, with no answer but 201 and 503', async ({
    skip,
  }) => {
    if (database === undefined) return skip();
    const { url } = database;
    proxies.push(await TcpProxy.start(url), await TcpProxy.start(url));
    const hosts = proxies.map((proxy) => new URL(proxy.url).host);
    app = await TestApp.start({ url: withHosts(url, ...hosts) }, { DB_TIMEOUT_MS });
    const member = await join(app, '+14155552002');
    const publish = async (): Promise<number> =>
      (await member.post('/posts', { content: 'Hi' })).status;
    expect(await publish()).toBe(201);
    for (const dying of [...proxies, ...proxies]) {
      const others = proxies.filter((proxy) => proxy !== dying);
      await Promise.all(others.map((proxy) => proxy.mend()));
      await dying.cut();
      const statuses: number[] = [];
      await expect
        .poll(async () => statuses.push(await publish()) && statuses.at(-1), { timeout: 5000 })
        .toBe(201);
      expect(new Set([...statuses, 201, 503])).toEqual(new Set([201, 503]));
    }
  });

  it('lead on from one that takes statements and commits nothing, and back', async ({ skip }) => {
    if (database === undefined) return skip();
    const { url } = database;
    const pair = [await TcpProxy.start(url), await TcpProxy.start(url)] as const;
    proxies.push(...pair);
    const hosts = pair.map((proxy) => new URL(proxy.url).host);
    app = await TestApp.start({ url: withHosts(url, ...hosts) }, { DB_TIMEOUT_MS });
    const member = await join(app, '+14155552005');
    const publish = async (): Promise<number> =>
      (await member.post('/posts', { content: 'Hi' })).status;
    for (const dumb of pair) {
      const reads = ['/me', '/posts', '/quota'].map((path) => member.get(path));
      expect(await Promise.all([publish(), publish(), publish()])).toEqual([201, 201, 201]);
      await Promise.all(reads);
      // All but one of these do not meet it.
      const [row] = await runSql(
        database.server.url,
        `SELECT COUNT(*) AS connections FROM information_schema.processlist WHERE user = 'service'`,
      );
      expect(Number(row?.connections)).toBeGreaterThan(1);
      dumb.swallow('COMMIT');
      expect(await publish()).toBe(503);
      expect(await Promise.all([publish(), publish(), publish()])).toEqual([201, 201, 201]);
      await dumb.mend();
    }
  }, 60_000);

  it('of which none takes writes are a 503, until one does', async ({ skip }) => {
    if (database === undefined) return skip();
    const { url } = database;
    proxies.push(await TcpProxy.start(url));
    const hosts = [new URL(url).host, new URL(proxies.at(-1)?.url ?? '').host];
    app = await TestApp.start({ url: withHosts(url, ...hosts) }, { DB_TIMEOUT_MS });
    const member = await join(app, '+14155552003');
    await database.setReadOnly(true);
    // Until a write was refused, nobody knows.
    await member.post('/posts', { content: 'Hi' });
    const refused = await member.post('/posts', { content: 'Hi' });
    await database.setReadOnly(false);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
  });
});
