import { once } from 'node:events';
import { onEachServer } from '../../support/database.js';
import { allEqual, countPublished } from '../../support/fixtures.js';
import { beginPublish, Member, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';

const BODY = '{"content":"Hi"}';
/** The replay is in the call log, too. */
const TWICE = { posts: 2, counted: 2, used: 2 };
const KEY = { 'idempotency-key': 'the-key' };
/** Until the database has done its part. */
const PATIENCE = { timeout: 5000 };

onEachServer('A client that leaves while its publish commits', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    app = await TestApp.start({ ...database, url: proxy.url }, { DB_POOL_SIZE: '4' });
  });
  afterAll(async () => {
    await proxy?.mend();
    await app?.stop();
    await proxy?.stop();
  });

  /** Lets the client leave when everything is written and the COMMIT is on its way. */
  async function leaveBeforeCommit(member: Member): Promise<void> {
    await member.publish();
    const held = proxy.holdAfter('UPDATE quota_usage');
    const { sent, response } = await beginPublish(member, BODY, KEY);
    sent.end(BODY.slice(1));
    expect(await held).toContain('COMMIT');
    const closed = once(response, 'close');
    sent.destroy();
    await closed;
  }

  /** Sends the same again, as a client does that got no answer. */
  async function expectRepeated(member: Member, replayed: 'true' | null): Promise<void> {
    const headers = { ...KEY, 'content-type': 'application/json' };
    const answer = await member.postRaw('/posts', BODY, headers);
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
    const { id } = await json<PostBody>(answer);
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
  }

  it('C23 has published once when the commit gets through, and the key replays that', async () => {
    const member = await Member.join(app);
    await leaveBeforeCommit(member);
    await proxy.mend();
    await expect.poll(() => countPublished(app, member), PATIENCE).toEqual(allEqual(2));
    await expectRepeated(member, 'true');
    expect(await countPublished(app, member)).toMatchObject(TWICE);
  });

  it('C23 has published nothing when it does not, and the key publishes for the first time', async () => {
    const member = await Member.join(app);
    await leaveBeforeCommit(member);
    await proxy.cut('hung up');
    await proxy.mend();
    await expect.poll(() => member.get('/me').then(({ status }) => status), PATIENCE).toBe(200);
    expect(await countPublished(app, member)).toEqual(allEqual(1));
    await expectRepeated(member, null);
    expect(await countPublished(app, member)).toEqual(allEqual(2));
    await expectRepeated(member, 'true');
    expect(await countPublished(app, member)).toMatchObject(TWICE);
  });
});
