import { once } from 'node:events';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { beginPublish, Member, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';

const BODY = '{"content":"Hi"}';
const KEY = { 'idempotency-key': 'the-key' };
/** Timeout for the commit. */
const WAIT = { timeout: 5000 };

onEachServer('Client that disconnects while its publish commits', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    app = await TestApp.start({ ...database, url: proxy.url }, { DB_POOL_SIZE: '4' });
  });
  afterAll(async () => {
    await proxy?.repair();
    await app?.stop();
    await proxy?.stop();
  });

  /** Disconnects the client when all statements but the COMMIT have reached the server. */
  async function disconnectBeforeCommit(member: Member): Promise<void> {
    await member.publish();
    const held = proxy.holdAfter('UPDATE quota_usage');
    const { sent, response } = await beginPublish(member, BODY, KEY);
    sent.end(BODY.slice(1));
    expect(await held).toContain('COMMIT');
    const closed = once(response, 'close');
    sent.destroy();
    await closed;
  }

  /** Retries the request, like a client that got no response. */
  async function expectRetry(member: Member, replayed: 'true' | null): Promise<void> {
    const headers = { ...KEY, 'content-type': 'application/json' };
    const response = await member.postRaw('/posts', BODY, headers);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([
      201,
      replayed,
    ]);
    const { id } = await json<PostBody>(response);
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
  }

  it('C23 publishes once when the COMMIT arrives, and the key replays the response', async () => {
    const member = await Member.join(app);
    await disconnectBeforeCommit(member);
    await proxy.repair();
    await expect.poll(() => countPublished(app, member), WAIT).toEqual(expectedCounts(2));
    await expectRetry(member, 'true');
    expect(await countPublished(app, member)).toEqual(expectedCounts(2));
  });

  it('C23 publishes nothing when the COMMIT is lost, and the key then publishes once', async () => {
    const member = await Member.join(app);
    await disconnectBeforeCommit(member);
    await proxy.cut('closed');
    await proxy.repair();
    await expect.poll(() => member.get('/me').then(({ status }) => status), WAIT).toBe(200);
    expect(await countPublished(app, member)).toEqual(expectedCounts(1));
    await expectRetry(member, null);
    expect(await countPublished(app, member)).toEqual(expectedCounts(2));
    await expectRetry(member, 'true');
    expect(await countPublished(app, member)).toEqual(expectedCounts(2));
  });
});
