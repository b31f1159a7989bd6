import { Post } from '../../../src/modules/posts/post.entities.js';
import { ApiCall, QuotaUsage } from '../../../src/modules/quota/quota.entities.js';
import { KILL_ROUNDS_TIMEOUT_MS, race } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { Member, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { callAt, useTestApp } from '../../support/test-app.js';

const HEADERS = { 'idempotency-key': 'the-key' };

onEachServer('Process crash during the COMMIT of a post and its Idempotency-Key', (database) => {
  const setupApp = useTestApp(database);
  let proxy: TcpProxy;
  let running: ServiceProcess;
  const start = () => startProcess({ url: proxy.url, env: { MIGRATE: '0', DEMO: '0' } });
  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    running = await start();
  });
  afterAll(async () => {
    await running?.stop();
    await proxy?.stop();
  });

  const publish = ({ token }: Member): Promise<Response> =>
    callAt(running.baseUrl, token, 'POST', '/posts', { content: 'Hi' }, HEADERS);

  const idsOf = async ({ user }: Member): Promise<string[]> => {
    const posts = await setupApp().dataSource.manager.findBy(Post, { userId: user.id });
    return posts.map(({ id }) => id);
  };

  /** Kills the process when everything is written and the COMMIT is held back. `beforeKill` may let the COMMIT through. */
  async function killAtCommit(member: Member, beforeKill: () => Promise<void>): Promise<void> {
    const held = proxy.holdAfter('UPDATE quota_usage');
    const lost = publish(member).catch((error: unknown) => error);
    expect(await held).toContain('COMMIT');
    // A stopped process does not read the database's response.
    running.signal('SIGSTOP');
    await beforeKill();
    await running.kill();
    expect(await lost).toBeInstanceOf(Error);
    await proxy.cut('closed');
    await proxy.repair();
    running = await start();
  }

  /** A member whose app has already published this month for another user. */
  async function join(): Promise<Member> {
    setupApp().clock.set(new Date().toISOString());
    const member = await Member.join(setupApp());
    await (await Member.join(setupApp(), { client: member.client })).publish();
    return member;
  }

  /** Repeats the request. Expects one post of `member`, and that it used the quota once, as did the post of `join`. */
  async function expectOnePost(
    member: Member,
    { replayed }: { replayed: boolean },
  ): Promise<PostBody> {
    const response = await publish(member);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([
      201,
      replayed ? 'true' : null,
    ]);
    const post = await json<PostBody>(response);
    expect(await idsOf(member)).toEqual([post.id]);
    const { manager } = setupApp().dataSource;
    const { clientId } = member.client;
    expect(await manager.findBy(QuotaUsage, { clientId })).toMatchObject([{ used: 2 }]);
    expect(await manager.countBy(ApiCall, { clientId, metered: true })).toBe(2);
    return post;
  }

  race(
    'C23 C112 replays the post in the next process if the COMMIT succeeded',
    async () => {
      const member = await join();
      await killAtCommit(member, async () => {
        expect(await idsOf(member)).toEqual([]);
        await proxy.repair();
        await expect.poll(() => idsOf(member)).toHaveLength(1);
      });
      const [committed] = await idsOf(member);
      expect(await expectOnePost(member, { replayed: true })).toMatchObject({ id: committed });
    },
    KILL_ROUNDS_TIMEOUT_MS,
  );

  race(
    'C23 C112 creates the post in the next process if the COMMIT was lost',
    async () => {
      const member = await join();
      await killAtCommit(member, async () => undefined);
      expect(await idsOf(member)).toEqual([]);
      await expectOnePost(member, { replayed: false });
      await expectOnePost(member, { replayed: true });
    },
    KILL_ROUNDS_TIMEOUT_MS,
  );
});
