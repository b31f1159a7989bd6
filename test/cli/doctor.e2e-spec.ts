import { userInfo } from 'node:os';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { AuditLog } from '../../src/platform/audit/audit-log.repository.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { newId } from '../../src/platform/ids.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { JobRun } from '../../src/platform/lifecycle/job-run.entity.js';
import { runDoctor, type Finding } from '../support/command-line.js';
import { useCommands, useMemberAndCommands } from '../support/commands.js';
import { onOneEngine, onEachServer } from '../support/database.js';
import { skipCounterCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import { Member } from '../support/member.js';
import { isStatementRunning } from '../support/test-app.js';

const HOUR = 3_600_000;

onOneEngine('Command "doctor"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);
  let postId: string;

  beforeEach(async () => {
    postId = (await member().publish()).id;
    const deleted = await member().publish();
    await member().delete(`/posts/${deleted.id}`);
    await member().comment(postId);
    const gone = await member().comment(postId);
    await member().delete(`/comments/${gone.id}`);
    await app().service(PostsService).like(member().user.id, postId);
  });

  const findingsOf = (found: readonly Finding[], check: string): Finding[] =>
    found.filter((finding) => finding.check === check);
  const statuses = (found: readonly Finding[]): string[] => found.map(({ status }) => status);

  /** Makes the counters of the member, the post and the app wrong. */
  async function corruptCounters(): Promise<void> {
    const { manager } = app().dataSource;
    await manager.update(User, { id: member().user.id }, { postCount: 7 });
    await manager.update(Post, { id: postId }, { likeCount: 0, commentCount: 5 });
    await manager.increment(QuotaUsage, { clientId: member().client.clientId }, 'used', 3);
  }
  async function counters(): Promise<number[]> {
    const { manager } = app().dataSource;
    const { postCount } = await manager.findOneByOrFail(User, { id: member().user.id });
    const { likeCount, commentCount } = await manager.findOneByOrFail(Post, { id: postId });
    const { clientId } = member().client;
    const { used } = await manager.findOneByOrFail(QuotaUsage, { clientId });
    return [postCount, likeCount, commentCount, used];
  }

  it('reports every check without a failure on a healthy database', async () => {
    const found = await runDoctor(cli);
    expect(statuses(found)).not.toContain('failed');
    const { kind } = database.engine;
    const ofEngine = kind === 'sqlite' ? ['storage'] : ['settings'];
    expect(new Set(found.map(({ check }) => check))).toEqual(
      new Set([
        ...['configuration', 'sms', 'metrics', 'database', 'permissions', 'clock', 'migrations'],
        ...['counters', 'phones', 'quota', 'jobs', ...ofEngine],
      ]),
    );
    const name = { sqlite: 'SQLite', mariadb: 'MariaDB', mysql: 'MySQL' }[kind];
    expect(findingsOf(found, 'database')[0]?.summary).toMatch(
      new RegExp(`^${name} \\d.* responds in [\\d.]+ ms\\.$`),
    );
    expect(findingsOf(found, 'counters')).toHaveLength(3);
  });

  it('prints each finding within the width of the terminal and its remedy as a command line', async () => {
    await corruptCounters();
    const { code, stdout, stderr } = await cli.runAtTerminal(80, 'doctor');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '4 checks failed.\n' });
    for (const line of stdout.trim().split('\n'))
      // Commands to paste are not wrapped.
      expect(line).toMatch(/^((ok {7}|warning {2}|failed {3}| {9})\S.{0,70}| {9}chmod .*)$/);
    expect(stdout).toContain(
      `failed   counters: users.post_count is wrong in 1 row, such as\n         ${member().user.id} (7, not 1).\n         devplatform doctor --fix\n`,
    );
    // All counters must be correct after a test.
    await cli.run('doctor', '--fix');
  });

  it('writes nothing without --fix', async () => {
    await corruptCounters();
    const before = [await counters(), await app().dataSource.manager.find(AuditEvent)];
    const found = await runDoctor(cli);
    expect(statuses(findingsOf(found, 'counters'))).toEqual(['failed', 'failed', 'failed']);
    expect(statuses(findingsOf(found, 'quota'))).toEqual(['failed']);
    expect([await counters(), await app().dataSource.manager.find(AuditEvent)]).toEqual(before);
    // All counters must be correct after a test.
    await cli.run('doctor', '--fix');
  });

  it('corrects the counters with --fix and records each correction', async () => {
    await corruptCounters();
    const fix = ['--fix', '--actor', 'olga', '--reason', 'Restored from a backup'];
    const found = await runDoctor(cli, ...fix);
    expect(statuses(findingsOf(found, 'counters'))).toEqual(['ok', 'ok', 'ok']);
    expect(findingsOf(found, 'counters')[0]?.summary).toBe(
      `users.post_count was corrected. It was wrong in 1 row, such as ${member().user.id} (7, not 1).`,
    );
    expect(await counters()).toEqual([1, 1, 1, 2]);
    const { dataSource } = app();
    const osUser = userInfo().username;
    const event = { action: 'counters.fixed', actor: 'olga', reason: 'Restored from a backup' };
    expect((await auditTrail(dataSource, member().user.id)).at(-1)).toEqual({
      ...event,
      details: { counter: 'users.post_count', from: 7, to: 1, osUser },
    });
    const postEvents = await auditTrail(dataSource, postId);
    expect(postEvents).toHaveLength(2);
    // Events of one millisecond are unordered.
    expect(postEvents).toEqual(
      expect.arrayContaining([
        { ...event, details: { counter: 'posts.like_count', from: 0, to: 1, osUser } },
        { ...event, details: { counter: 'posts.comment_count', from: 5, to: 1, osUser } },
      ]),
    );
    expect((await auditTrail(dataSource, member().client.clientId)).at(-1)).toMatchObject({
      action: 'quota.reconciled',
      actor: 'olga',
    });

    const events = await dataSource.manager.count(AuditEvent);
    expect(statuses(await runDoctor(cli, '--fix'))).not.toContain('failed');
    expect(await dataSource.manager.count(AuditEvent)).toBe(events);
  });

  it('checks the rows of more than one batch', async () => {
    const { manager } = app().dataSource;
    const now = new Date();
    const users = Array.from({ length: 250 }, (_, number) => ({
      id: newId('usr', now),
      status: 'active' as const,
      phone: `+1415556${String(number).padStart(4, '0')}`,
      name: 'Ana',
      postCount: number % 25 === 0 ? 1 : 0,
      createdAt: now,
    }));
    await manager.insert(User, users);
    const [finding] = findingsOf(await runDoctor(cli, '--fix'), 'counters');
    expect(finding?.summary).toContain('It was wrong in 10 rows, such as usr_');
    expect(await manager.countBy(User, { postCount: 1, name: 'Ana' })).toBe(0);
    await manager.delete(User, { name: 'Ana' });
  });

  it('names users who cannot sign in with the phone number that 1.1 stored', async () => {
    const { id } = await app().addUser({ phone: '+4901711234567' });
    expect(findingsOf(await runDoctor(cli), 'phones')).toEqual([
      {
        check: 'phones',
        status: 'warning',
        summary: `1 user, such as ${id}, cannot sign in: the stored phone number has a superfluous prefix, or is no phone number.`,
        remedy: 'Read the number with "user show --full", and correct it with "user change-phone".',
      },
    ]);
    await cli.run('user', 'change-phone', id, '--phone', '+49 171 1234567', '--yes');
    expect(statuses(findingsOf(await runDoctor(cli), 'phones'))).toEqual(['ok']);
  });

  it('warns about jobs that have not run recently, except before their first run', async () => {
    const { manager } = app().dataSource;
    const prune = async (): Promise<Finding | undefined> =>
      findingsOf(await runDoctor(cli), 'jobs').find(({ summary }) => summary.includes('prune'));
    expect(await prune()).toMatchObject({
      status: 'warning',
      summary: expect.stringContaining('has never finished'),
      remedy: 'devplatform prune',
    });
    const [now, before] = [new Date(), new Date(Date.now() - 3 * HOUR)];
    const audit = app().service(AuditLog);
    const recordMigration = () =>
      app()
        .service(TransactionRunner)
        .run((tx) => audit.record(tx, 'db.migrated', 'database', { actor: 'olga' }));
    app().clock.set(before.toISOString());
    await recordMigration();
    expect(await prune()).toMatchObject({ status: 'warning' });
    app().clock.set(now.toISOString());
    await recordMigration();
    expect(await prune()).toEqual({
      check: 'jobs',
      status: 'ok',
      summary: 'The job prune has not been due since the installation.',
    });
    const run = { job: 'prune', startedAt: before };
    await manager.insert(JobRun, { ...run, period: 'a', finishedAt: before });
    await manager.insert(JobRun, { ...run, period: 'b', finishedAt: null });
    expect((await prune())?.summary).toContain(`last finished at ${before.toISOString()}`);
    await manager.insert(JobRun, { ...run, period: 'c', finishedAt: now });
    expect(await prune()).toMatchObject({ status: 'ok' });
  });
});

onEachServer('Command "doctor --fix" during a publish', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);

  /** Makes a counter wrong and begins a transaction that publishes one more post in two steps, as the service does. */
  async function beginPublish() {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const { manager } = app().dataSource;
    const author = { id: member.user.id };
    await manager.update(User, author, { postCount: 7 });
    const post = await manager.findOneByOrFail(Post, { id });
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    return {
      insert: () => runner.manager.insert(Post, { ...post, id: newId('post', new Date()) }),
      count: () => runner.manager.increment(User, author, 'postCount', 1),
      commit: async () => {
        await runner.commitTransaction();
        await runner.release();
      },
      postCount: async () => (await manager.findOneByOrFail(User, author)).postCount,
    };
  }

  it('waits for a publish that has already counted its post', async () => {
    const publish = await beginPublish();
    await publish.insert();
    await publish.count();
    const fix = runDoctor(cli, '--fix');
    await expect.poll(() => isStatementRunning(app(), 'UPDATE'), { timeout: 10_000 }).toBe(true);
    await publish.commit();
    await fix;
    expect(await publish.postCount()).toBe(2);
  });

  it('does not count a post before its publish does', async () => {
    const publish = await beginPublish();
    await publish.insert();
    await runDoctor(cli, '--fix');
    expect(await publish.postCount()).toBe(1);
    await publish.count();
    await publish.commit();
    expect(await publish.postCount()).toBe(2);
  });
});
