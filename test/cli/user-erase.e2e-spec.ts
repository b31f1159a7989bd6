import { readFile } from 'node:fs/promises';
import { sha256 } from '../../src/platform/secrets.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { RateLimitHit } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { CommandLine, runCommand, SHORT_REQUESTS } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { dumpTables, onOneEngine, onSqlite, tablesContaining } from '../support/database.js';
import { ANAS_TEXTS, twoMembers } from '../support/fixtures.js';
import { auditTrail } from '../support/logs.js';
import { isTokenAccepted, requestToken } from '../support/oauth-flow.js';
import { expectTokenError } from '../support/responses.js';
import { isStatementRunning } from '../support/test-app.js';

interface Erased {
  id: string;
  dry_run: boolean;
  tables: Record<string, number>;
}

const ERASED_ROWS = {
  users: 1,
  posts: 2,
  comments: 3,
  comments_of_others: 1,
  post_likes: 1,
  post_likes_of_others: 1,
  idempotency_keys: 2,
  access_tokens: 1,
  refresh_tokens: 1,
};

onOneEngine('Command "user erase"', (database) => {
  const { app, cli } = useCommands(database, SHORT_REQUESTS);
  const dump = (): Promise<Map<string, string>> => dumpTables(app().dataSource);

  it("deletes all personal data of the user, keeps only the id in the audit log, and keeps other users' data", async () => {
    const phone = '+14155557001';
    const { ana, ben, client, anasTokens, bensTokens, anasPost, bensPost } = await twoMembers(
      app(),
      phone,
    );
    expect(tablesContaining(await dump(), phone, ana.id).length).toBeGreaterThan(8);
    const hash = sha256(`otp-hourly|${phone}`);
    expect(await app().dataSource.manager.countBy(RateLimitHit, { hash })).toBeGreaterThan(0);

    const { tables } = await cli.json<Erased>('user', 'erase', ana.id, '--yes');
    expect(tables).toMatchObject(ERASED_ROWS);

    const left = await dump();
    expect(
      tablesContaining(left, phone, phone.slice(1), ...Object.values(ANAS_TEXTS), anasPost),
    ).toEqual([]);
    expect(tablesContaining(left, ana.id)).toEqual(['audit_events']);
    expect(await app().dataSource.manager.countBy(RateLimitHit, { hash })).toBe(0);
    const events: { address: string | null }[] = JSON.parse(left.get('audit_events') ?? '');
    const eventsOfAna = events.filter((event) => JSON.stringify(event).includes(ana.id));
    expect(eventsOfAna.length).toBeGreaterThan(3);
    expect(eventsOfAna.filter(({ address }) => address !== null)).toEqual([]);
    const trail = await auditTrail(app().dataSource, ana.id);
    expect(trail.find(({ action }) => action === 'user.erased')?.details).toEqual(tables);

    expect(await isTokenAccepted(app(), anasTokens.access_token)).toBe(false);
    const { refresh_token } = anasTokens;
    const refresh = { grant_type: 'refresh_token', refresh_token };
    await expectTokenError(await requestToken(app(), client, refresh), 'invalid_grant');
    expect(await isTokenAccepted(app(), bensTokens.access_token)).toBe(true);
    const { manager } = app().dataSource;
    expect(await manager.findOneBy(Post, { id: bensPost })).toMatchObject({
      commentCount: 1,
      likeCount: 1,
    });
    expect(await manager.findOneBy(User, { id: ben.id })).toMatchObject({ postCount: 1 });
    const comments = await app().call(
      bensTokens.access_token,
      'GET',
      `/posts/${bensPost}/comments`,
    );
    expect(await comments.json()).toMatchObject({ meta: { total: 1 } });

    const added = await cli.json('user', 'add', '--phone', phone, '--name', 'Ana Again');
    expect(added.id).not.toBe(ana.id);
  });

  it('counts the rows with --dry-run and deletes nothing', async () => {
    const { ana } = await twoMembers(app(), '+14155557002');
    const before = await dump();
    const { dry_run, tables } = await cli.json<Erased>('user', 'erase', ana.id, '--dry-run');
    expect(dry_run).toBe(true);
    expect(tables).toMatchObject(ERASED_ROWS);
    expect(await dump()).toEqual(before);
    const { code, stdout } = await cli.run('user', 'erase', ana.id, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^posts +2$/m);
  });

  it('deletes later rows of a user who is already erased', async () => {
    const user = await app().addUser();
    const client = await app().addClient();
    await cli.json('user', 'erase', user.id, '--yes');
    await app().accessToken(user, client);
    expect(tablesContaining(await dump(), user.id)).toContain('grants');
    expect(await cli.json('user', 'erase', user.id, '--yes')).toMatchObject({
      tables: { grants: 1, access_tokens: 1, users: 0 },
    });
    expect(tablesContaining(await dump(), user.id)).toEqual(['audit_events']);
    const events = (await auditTrail(app().dataSource, user.id)).length;
    await cli.json('user', 'erase', user.id, '--yes');
    expect(await auditTrail(app().dataSource, user.id)).toHaveLength(events);
  });

  it('stores no post and returns 401 when the user is blocked during a publish', async () => {
    const user = await app().addUser();
    const token = await app().accessToken(user, await app().addClient());
    let publish: Promise<Response> | undefined;
    let isRejected = false;
    const isPublishWaiting = async (): Promise<boolean> =>
      database.engine.kind === 'sqlite'
        ? isRejected || app().service(TransactionRunner).waiting > 0
        : isStatementRunning(app(), 'UPDATE users SET post_count');
    await app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await app()
          .service(UsersService)
          .changeStatusInTransaction(tx, user.id, 'blocked', { actor: 'test' });
        publish = app().call(token, 'POST', '/posts', { content: 'Too late' });
        void publish.then(() => (isRejected = true));
        // The publish waits for the row of the user. On SQLite it waits for the connection, or reads the new status on it.
        await expect.poll(isPublishWaiting, { timeout: 10_000 }).toBe(true);
      });
    expect((await publish)?.status).toBe(401);
    expect(await app().dataSource.manager.countBy(Post, { userId: user.id })).toBe(0);
  });
});

onSqlite('The database file after "user erase"', (database) => {
  it('contains no data of the erased user, not even in freed pages', async () => {
    const cli = new CommandLine(database, runCommand, SHORT_REQUESTS);
    const bytes = (): Promise<string> =>
      readFile(database.url.slice('sqlite:'.length), { encoding: 'latin1' });
    await cli.run('db', 'migrate');
    const { name } = ANAS_TEXTS;
    const user = ['--phone', '+14155559002', '--name', name];
    const { id } = await cli.json<{ id: string }>('user', 'add', ...user);
    expect(await bytes()).toContain('+14155559002');
    expect(await bytes()).toContain(name);
    await cli.json('user', 'erase', id, '--yes');
    expect(await bytes()).not.toContain('4155559002');
    expect(await bytes()).not.toContain(name);
  });
});
