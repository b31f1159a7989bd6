import { once } from 'node:events';
import { TransactionRunner } from '../../src/database/transaction.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { connect, onOneEngine, onEachServer } from '../support/database.js';
import { allEqual, countPublished } from '../support/fixtures.js';
import { beginPublish, Member, type OpenCall } from '../support/member.js';
import { isStatementRunning, TestApp, useTestApp } from '../support/test-app.js';

const BODY = '{"content":"Hi"}';
const KEY = { 'idempotency-key': 'the-key' };

/** What the call log has of the app once that is so many calls, those that cost quota first. */
async function rowsOf({ app, client }: Member, calls = 1): Promise<ApiCall[]> {
  const { manager } = app.dataSource;
  const where = { clientId: client.clientId };
  await expect
    .poll(async () => {
      await app.service(CallLog).flush();
      return manager.countBy(ApiCall, where);
    })
    .toBe(calls);
  return manager.find(ApiCall, { where, order: { metered: 'DESC' } });
}

async function leave({ sent, response }: OpenCall): Promise<void> {
  const closed = once(response, 'close');
  sent.destroy();
  await closed;
}

onOneEngine('The call log, when the client leaves before the answer,', (database) => {
  const app = useTestApp(database);

  /** Lets the member's client leave while its publish waits for a unit of work that holds the member, which is undone then. */
  async function leaveDuringPublish({ user, client }: Member, open: OpenCall): Promise<void> {
    const undone = app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await app().service(UsersService).countPosts(tx, [user.id]);
        open.sent.end(BODY.slice(1));
        await expect.poll(() => open.received.caller?.clientId).toBe(client.clientId);
        await leave(open);
        throw new Error('undone');
      });
    await expect(undone).rejects.toThrow('undone');
  }

  it('C23 has the publish once, as has everything else, when it succeeded', async () => {
    const member = await Member.join(app());
    await leaveDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 201 }]);
    expect(await countPublished(app(), member)).toEqual(allEqual(1));
  });

  it('C23 has the call with status 499, when the publish failed, and nothing else has anything', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await app().service(QuotaService).set(clientId, { limit: 0 }, { actor: 'test' });
    await leaveDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 499 }]);
    expect(await countPublished(app(), member)).toEqual(allEqual(0));
  });
});

onEachServer('The call log, when the client leaves while its key is looked up,', (database) => {
  const app = useTestApp(database);

  async function leaveDuringLookup(member: Member): Promise<void> {
    const open = await beginPublish(member, BODY, KEY);
    const other = app().dataSource.createQueryRunner();
    await other.query('LOCK TABLES idempotency_keys WRITE');
    try {
      open.sent.end(BODY.slice(1));
      await expect.poll(() => isStatementRunning(app(), 'SELECT `IdempotencyKey`')).toBe(true);
      await leave(open);
    } finally {
      await other.query('UNLOCK TABLES');
      await other.release();
    }
  }

  it('C23 has the publish once, as has everything else', async () => {
    const member = await Member.join(app());
    await leaveDuringLookup(member);
    expect(await rowsOf(member)).toMatchObject([{ status: 201, metered: true }]);
    expect(await countPublished(app(), member)).toEqual(allEqual(1));
  });

  it('has the replay with status 499, which costs nothing', async () => {
    const member = await Member.join(app());
    const headers = { ...KEY, 'content-type': 'application/json' };
    expect((await member.postRaw('/posts', BODY, headers)).status).toBe(201);
    await leaveDuringLookup(member);
    expect(await rowsOf(member, 2)).toMatchObject([
      { status: 201, metered: true },
      { status: 499, metered: false },
    ]);
    expect(await countPublished(app(), member)).toEqual(allEqual(1));
  });
});

onOneEngine('The call log at the end of the service', (database) => {
  it('has the calls that were answered before, and the one that was open', async () => {
    const app = await TestApp.start(database);
    const member = await Member.join(app);
    await (await member.get('/me')).text();
    const body = '{"content":1}';
    const { sent, response } = await beginPublish(member, body);
    const stopped = app.stop();
    await expect.poll(() => app.nest.getHttpServer().listening).toBe(false);
    sent.end(body.slice(1));
    await once(response, 'close');
    await stopped;
    const dataSource = await connect(database.url);
    const rows = await dataSource.manager.findBy(ApiCall, { clientId: member.client.clientId });
    await dataSource.destroy();
    expect(rows.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });
});
