import { readFile } from 'node:fs/promises';
import { SCOPES } from '../../src/common/scopes.js';
import { sha256 } from '../../src/common/secrets.js';
import { TransactionRunner } from '../../src/database/transaction.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { approve, exchange, isTokenAccepted, requestToken } from '../support/oauth-flow.js';
import { Cluster } from '../support/cluster.js';
import { CommandLine, runCommandProcess } from '../support/command-line.js';
import {
  connect,
  dumpTables,
  onOneEngine,
  onSqlite,
  tablesContaining,
  type TestDatabase,
} from '../support/database.js';
import { COUNTED_SIGN_INS, twoMembers, ANAS_WORDS } from '../support/fixtures.js';
import { auditTrail } from '../support/logs.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type ProcessSettings, startProcess } from '../support/service-process.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const REDIRECT_URI = 'https://garden.example/callback';
const APP = ['--name', 'Garden Share', '--redirect-uri', REDIRECT_URI, '--scope', SCOPES.join(' ')];
/** Two processes must share the pepper, as they share the database. */
const settings = ({ url }: TestDatabase): ProcessSettings => ({
  url,
  env: { DEMO: '0', OTP_PEPPER: 'f'.repeat(64) },
});

interface Erased {
  id: string;
  dry_run: boolean;
  tables: Record<string, number>;
}

const GONE = {
  users: 1,
  posts: 2,
  comments: 4,
  post_likes: 2,
  idempotency_keys: 2,
  access_tokens: 1,
  refresh_tokens: 1,
};

onOneEngine('"user erase"', (database) => {
  const app = useTestApp(database, COUNTED_SIGN_INS);
  const cli = new CommandLine(database);
  const dump = (): Promise<Map<string, string>> => dumpTables(app().dataSource);

  it('leaves nothing of the user but the id in the audit log, and all of others', async () => {
    const phone = '+14155557001';
    const { ana, ben, client, anas, bens, anasPost, bensPost } = await twoMembers(app(), phone);
    expect(tablesContaining(await dump(), phone, ana.id).length).toBeGreaterThan(8);
    const hash = sha256(`otp-hourly|${phone}`);
    expect(await app().dataSource.manager.countBy(ThrottleHit, { hash })).toBeGreaterThan(0);

    const reason = ['--reason', 'Asked for it', '--actor', 'olga'];
    const { tables } = await cli.json<Erased>('user', 'erase', ana.id, ...reason);
    expect(tables).toMatchObject(GONE);

    const left = await dump();
    expect(
      tablesContaining(left, phone, phone.slice(1), ...Object.values(ANAS_WORDS), anasPost),
    ).toEqual([]);
    expect(tablesContaining(left, ana.id)).toEqual(['audit_events']);
    expect(await app().dataSource.manager.countBy(ThrottleHit, { hash })).toBe(0);
    const events: { address: string | null }[] = JSON.parse(left.get('audit_events') ?? '');
    const about = events.filter((event) => JSON.stringify(event).includes(ana.id));
    expect(about.length).toBeGreaterThan(3);
    expect(about.filter(({ address }) => address !== null)).toEqual([]);
    expect((await auditTrail(app().dataSource, ana.id)).at(-1)).toEqual({
      action: 'user.erased',
      actor: 'olga',
      reason: 'Asked for it',
      details: tables,
    });

    expect(await isTokenAccepted(app(), anas.access_token)).toBe(false);
    const { refresh_token } = anas;
    const refresh = { grant_type: 'refresh_token', refresh_token };
    await expectTokenError(await requestToken(app(), client, refresh), 'invalid_grant');
    expect(await isTokenAccepted(app(), bens.access_token)).toBe(true);
    const { manager } = app().dataSource;
    expect(await manager.findOneBy(Post, { id: bensPost })).toMatchObject({
      commentCount: 1,
      likeCount: 1,
    });
    expect(await manager.findOneBy(User, { id: ben.id })).toMatchObject({ postCount: 1 });
    const comments = await app().call(bens.access_token, 'GET', `/posts/${bensPost}/comments`);
    expect(await comments.json()).toMatchObject({ meta: { total: 1 } });

    const again = await cli.json('user', 'add', '--phone', phone, '--name', 'Ana Again');
    expect(again.id).not.toBe(ana.id);
  });

  it('tells with --dry-run what would go, and removes nothing', async () => {
    const { ana } = await twoMembers(app(), '+14155557002');
    const before = await dump();
    const { dry_run, tables } = await cli.json<Erased>('user', 'erase', ana.id, '--dry-run');
    expect(dry_run).toBe(true);
    expect(tables).toMatchObject(GONE);
    expect(await dump()).toEqual(before);
    const { code, stdout } = await cli.run('user', 'erase', ana.id, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^posts +2$/m);
  });

  it('goes on where another run stopped, and counts no comment twice in two places at once', async () => {
    const { ana, bensPost } = await twoMembers(app(), '+14155557003');
    const processes = new CommandLine(database, runCommandProcess);
    const runs = await Promise.all(
      [0, 1].map(() => processes.run('user', 'erase', ana.id, '--json')),
    );
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      [0, 1].map(() => ({ code: 0, stderr: '' })),
    );
    const { manager } = app().dataSource;
    expect(await manager.findOneBy(Post, { id: bensPost })).toMatchObject({
      commentCount: 1,
      likeCount: 1,
    });
    expect(tablesContaining(await dump(), ana.id)).toEqual(['audit_events']);
    const sum = (table: string): number =>
      runs.reduce(
        (all, { stdout }) => all + ((JSON.parse(stdout) as Erased).tables[table] ?? 0),
        0,
      );
    expect({ posts: sum('posts'), comments: sum('comments'), users: sum('users') }).toEqual({
      posts: 2,
      comments: 4,
      users: 1,
    });
  });

  it('removes what came after, when it is run for a user who is gone', async () => {
    const { ana, client } = await twoMembers(app(), '+14155557004');
    await cli.json('user', 'erase', ana.id);
    await app().accessToken(ana, client);
    expect(tablesContaining(await dump(), ana.id)).toContain('grants');
    expect(await cli.json('user', 'erase', ana.id)).toMatchObject({
      tables: { grants: 1, access_tokens: 1, users: 0 },
    });
    expect(tablesContaining(await dump(), ana.id)).toEqual(['audit_events']);
    const events = (await auditTrail(app().dataSource, ana.id)).length;
    await cli.json('user', 'erase', ana.id);
    expect(await auditTrail(app().dataSource, ana.id)).toHaveLength(events);
  });

  it('says so when there is no such user', async () => {
    const { code, stdout, stderr } = await cli.run('user', 'erase', 'usr_nobody');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No user has the id usr_nobody.');
  });
});

onOneEngine('The erasure of a user of running services', (database) => {
  const { name, post } = ANAS_WORDS;
  const phone = '+14155559001';
  const cli = new CommandLine(database);
  beforeAll(async () => {
    await cli.run('db', 'migrate');
  });

  it('leaves no word of theirs in what the services print, nor in the database', async () => {
    const [first, second] = [
      await startProcess(settings(database)),
      await startProcess(settings(database)),
    ];
    const site = new Cluster(first.baseUrl, [first]);
    const { id } = await cli.json<{ id: string }>('user', 'add', '--phone', phone, '--name', name);
    const registered = await cli.json('app', 'create', ...APP);
    const client = {
      clientId: String(registered.client_id),
      secret: String(registered.client_secret),
      redirectUris: [REDIRECT_URI],
      scopes: SCOPES,
      kind: 'confidential',
    } as unknown as TestClient;
    const code = (await approve(site, { phone } as User, client)).get('code') ?? '';
    const { access_token } = await json<TokenBody>(await exchange(site, client, code));
    const headers = {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ content: post });
    const published = await site.fetch('/dev/v1/posts', { method: 'POST', headers, body });
    expect(published.status).toBe(201);
    const me = (): Promise<Response> => fetch(`${second.baseUrl}/dev/v1/me`, { headers });
    expect((await me()).status).toBe(200);
    const erased = await new CommandLine(database, runCommandProcess).run(
      'user',
      'erase',
      id,
      '--yes',
    );
    expect(erased).toMatchObject({ code: 0, stderr: '' });
    expect((await me()).status).toBe(401);
    await Promise.all([first.stop(), second.stop()]);
    const printed = first.output() + second.output() + erased.stdout;
    for (const word of [phone, phone.slice(1), name, post, id]) expect(printed).not.toContain(word);
    const dataSource = await connect(database.url);
    try {
      const left = await dumpTables(dataSource);
      expect(tablesContaining(left, phone, name, post)).toEqual([]);
      expect(tablesContaining(left, id)).toEqual(['audit_events']);
      expect(left.get('api_calls')).toContain('GET /dev/v1/me');
    } finally {
      await dataSource.destroy();
    }
  });
});

onSqlite('The file of the database', (database) => {
  it('holds no word of an erased user, not even where rows were', async () => {
    const cli = new CommandLine(database);
    const bytes = (): Promise<string> =>
      readFile(database.url.slice('sqlite:'.length), { encoding: 'latin1' });
    await cli.run('db', 'migrate');
    const { name } = ANAS_WORDS;
    const user = ['--phone', '+14155559002', '--name', name];
    const { id } = await cli.json<{ id: string }>('user', 'add', ...user);
    expect(await bytes()).toContain('+14155559002');
    expect(await bytes()).toContain(name);
    await cli.json('user', 'erase', id);
    expect(await bytes()).not.toContain('4155559002');
    expect(await bytes()).not.toContain(name);
  });
});

onOneEngine('A publish that was under way when its user was blocked', (database) => {
  const app = useTestApp(database);

  it('is undone, with an answer of 401', async () => {
    const user = await app().addUser();
    const token = await app().accessToken(user, await app().addClient());
    let publish: Promise<Response> | undefined;
    await app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await app().service(UsersService).changeStatusIn(tx, user.id, 'blocked', { actor: 'test' });
        publish = app().call(token, 'POST', '/posts', { content: 'Too late' });
        // Until the unit commits, the call sees an active user; SQLite lets it wait in the queue.
        await new Promise((resolve) => setTimeout(resolve, 500));
      });
    expect((await publish)?.status).toBe(401);
    expect(await app().dataSource.manager.count(Post)).toBe(0);
  });
});
