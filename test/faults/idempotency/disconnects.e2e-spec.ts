import { once } from 'node:events';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { beginPublish, Member, type PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { useProxiedApp } from '../../support/test-app.js';

const BODY = '{"content":"Hi"}';
const KEY_HEADER = { 'idempotency-key': 'the-key' };
/** Timeout for the commit. */
const WAIT = { timeout: 5000 };

onEachServer('Client that disconnects while its publish commits', (database) => {
  const { app, proxy } = useProxiedApp(database, { DB_POOL_SIZE: '4' });

  /**
   * Publishes a post completely, and begins to publish a second one. Disconnects the client when all statements of the second but
   * the COMMIT have reached the server. The COMMIT is held.
   */
  async function disconnectBeforeCommit(member: Member): Promise<void> {
    await member.publish();
    const heldData = proxy().holdAfter('UPDATE quota_usage');
    const { clientRequest, serverResponse } = await beginPublish(member, BODY, KEY_HEADER);
    // `beginPublish` has sent the first byte.
    clientRequest.end(BODY.slice(1));
    expect(await heldData).toContain('COMMIT');
    const closed = once(serverResponse, 'close');
    clientRequest.destroy();
    await closed;
  }

  /** Retries the second post, like a client that got no response. Asserts that it exists then. */
  async function expectRetry(
    member: Member,
    { isReplayed }: { isReplayed: boolean },
  ): Promise<void> {
    const headers = { ...KEY_HEADER, 'content-type': 'application/json' };
    const response = await member.postRaw('/posts', BODY, headers);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([
      201,
      isReplayed ? 'true' : null,
    ]);
    const { id } = await json<PostBody>(response);
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
  }

  it('C23 publishes once when the COMMIT arrives, and a retry with the key gets the stored response', async () => {
    const member = await Member.join(app());
    await disconnectBeforeCommit(member);
    await proxy().repair();
    await expect.poll(() => countPublished(app(), member), WAIT).toEqual(expectedCounts(2));
    await expectRetry(member, { isReplayed: true });
    expect(await countPublished(app(), member)).toEqual(expectedCounts(2));
  });

  it('C23 publishes nothing when the COMMIT is lost, and retries with the key then publish once', async () => {
    const member = await Member.join(app());
    await disconnectBeforeCommit(member);
    await proxy().cut('closed');
    await proxy().repair();
    await expect.poll(() => member.get('/me').then(({ status }) => status), WAIT).toBe(200);
    expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
    await expectRetry(member, { isReplayed: false });
    expect(await countPublished(app(), member)).toEqual(expectedCounts(2));
    await expectRetry(member, { isReplayed: true });
    expect(await countPublished(app(), member)).toEqual(expectedCounts(2));
  });
});
