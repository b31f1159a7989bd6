import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { onEachServer } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';
import { BreakableServer } from '../database-outage/breakable-server.js';

/** Divided among the hosts: each share has to be enough to connect and query on a loaded machine. */
const DB_TIMEOUT_MS = '3000';

/** The `DATABASE_URL` with these hosts. */
function withHosts(url: string, ...hosts: string[]): string {
  return url.replace(new URL(url).host, hosts.join(','));
}

/** Accepts connections and never responds, like a frozen server. */
async function silentServer(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

onEachServer('Several hosts in DATABASE_URL', ({ engine }) => {
  let database: BreakableServer | undefined;
  const proxies: TcpProxy[] = [];
  let app: TestApp | undefined;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
  }, 180_000);
  afterEach(() => app?.stop());

  /**
   * Starts an application with these hosts. Returns a new member of it.
   * @param phone must be unique: each application counts its users from one, on the same database
   */
  async function joinWith(phone: string, url: string, ...hosts: string[]): Promise<Member> {
    app = await TestApp.start({ url: withHosts(url, ...hosts) }, { DB_TIMEOUT_MS });
    return Member.join(app, { user: await app.addUser({ phone }) });
  }

  /** The hosts of this many new proxies to the database. */
  async function proxiesTo(url: string, count: number): Promise<[TcpProxy[], string[]]> {
    const added = await Promise.all(Array.from({ length: count }, () => TcpProxy.start(url)));
    proxies.push(...added);
    return [added, added.map((proxy) => new URL(proxy.url).host)];
  }
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await database?.stop();
  });

  it('skips an unreachable and a read-only host, and uses the writable one', async ({ skip }) => {
    if (database === undefined || engine.kind === 'sqlite') return skip();
    const replica = await BreakableServer.start(engine.kind);
    try {
      await replica?.setReadOnly(true);
      const hosts = [`127.0.0.1:${await freePort()}`, new URL(replica?.url ?? '').host];
      hosts.push(new URL(database.url).host);
      const member = await joinWith('+14155552001', database.url, ...hosts);
      expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
      const [row] = await runSql(database.adminUrl, 'SELECT COUNT(*) AS posts FROM posts');
      expect(Number(row?.posts)).toBe(1);
    } finally {
      await replica?.stop();
    }
  }, 180_000);

  it('skips a host that accepts connections and never responds, also at startup', async ({
    skip,
  }) => {
    if (database === undefined) return skip();
    const silent = await silentServer();
    try {
      const { port } = silent.address() as AddressInfo;
      const hosts = [`127.0.0.1:${port}`, new URL(database.url).host];
      const member = await joinWith('+14155552004', database.url, ...hosts);
      expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
    } finally {
      silent.close();
    }
  });

  it('switches to the other host when one fails, with no response other than 201 and 503', async ({
    skip,
  }) => {
    if (database === undefined) return skip();
    const [pair, hosts] = await proxiesTo(database.url, 2);
    const member = await joinWith('+14155552002', database.url, ...hosts);
    const publish = async (): Promise<number> =>
      (await member.post('/posts', { content: 'Hi' })).status;
    expect(await publish()).toBe(201);
    for (const dying of [...pair, ...pair]) {
      const others = pair.filter((proxy) => proxy !== dying);
      await Promise.all(others.map((proxy) => proxy.repair()));
      await dying.cut();
      const statuses: number[] = [];
      await expect
        .poll(async () => statuses.push(await publish()) && statuses.at(-1), { timeout: 5000 })
        .toBe(201);
      expect(new Set([...statuses, 201, 503])).toEqual(new Set([201, 503]));
    }
  });

  it('switches from a host that drops COMMIT statements, and back', async ({ skip }) => {
    if (database === undefined) return skip();
    const [pair, hosts] = await proxiesTo(database.url, 2);
    const member = await joinWith('+14155552005', database.url, ...hosts);
    const publish = async (): Promise<number> =>
      (await member.post('/posts', { content: 'Hi' })).status;
    for (const silent of pair) {
      const reads = ['/me', '/posts', '/quota'].map((path) => member.get(path));
      expect(await Promise.all([publish(), publish(), publish()])).toEqual([201, 201, 201]);
      await Promise.all(reads);
      // Several connections are open. Only one of them gets the COMMIT that is dropped, but the service must close all.
      const [row] = await runSql(
        database.adminUrl,
        `SELECT COUNT(*) AS connections FROM information_schema.processlist WHERE user = 'service'`,
      );
      expect(Number(row?.connections)).toBeGreaterThan(1);
      silent.dropStatement('COMMIT');
      expect(await publish()).toBe(503);
      expect(await Promise.all([publish(), publish(), publish()])).toEqual([201, 201, 201]);
      await silent.repair();
    }
  }, 60_000);

  it('returns 503 while no host is writable, and recovers when one is', async ({ skip }) => {
    if (database === undefined) return skip();
    const [, hosts] = await proxiesTo(database.url, 1);
    hosts.unshift(new URL(database.url).host);
    const member = await joinWith('+14155552003', database.url, ...hosts);
    await database.setReadOnly(true);
    // The service learns from a rejected write that a host is read-only.
    await member.post('/posts', { content: 'Hi' });
    const rejected = await member.post('/posts', { content: 'Hi' });
    await database.setReadOnly(false);
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
  });
});
