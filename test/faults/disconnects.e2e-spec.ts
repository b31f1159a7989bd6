import { once } from 'node:events';
import { onEachServer } from '../support/engines.js';
import { allAre, publishedBy } from '../support/published.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TestApp } from '../support/test-app.js';
import { Member } from '../e2e/api/member.js';
import { beginPublish } from '../e2e/api/open-call.js';

const BODY = '{"content":"Hi"}';

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
    const held = proxy.holdAfter('UPDATE `quota_usage`');
    const { sent, response } = await beginPublish(member, BODY);
    sent.end(BODY.slice(1));
    expect(await held).toContain('COMMIT');
    const closed = once(response, 'close');
    sent.destroy();
    await closed;
  }

  it('C23 has published once when the commit gets through', async () => {
    const member = await Member.join(app);
    await leaveBeforeCommit(member);
    await proxy.mend();
    await expect.poll(() => publishedBy(app, member)).toEqual(allAre(2));
  });

  it('C23 has published nothing when it does not', async () => {
    const member = await Member.join(app);
    await leaveBeforeCommit(member);
    await proxy.cut('hung up');
    await proxy.mend();
    await expect.poll(() => member.get('/me').then(({ status }) => status)).toBe(200);
    expect(await publishedBy(app, member)).toEqual(allAre(1));
    await member.publish();
    expect(await publishedBy(app, member)).toEqual(allAre(2));
  });
});
