import { once } from 'node:events';
import { TransactionRunner } from '../../../src/database/transaction.js';
import { ApiCall } from '../../../src/modules/quota/api-call.entity.js';
import { CallLog } from '../../../src/modules/quota/call-log.service.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { UsersService } from '../../../src/modules/users/users.service.js';
import { connect } from '../../support/connect.js';
import { onEachEngine } from '../../support/engines.js';
import { allAre, publishedBy } from '../../support/published.js';
import { TestApp, useTestApp } from '../../support/test-app.js';
import { Member } from './member.js';
import { beginPublish, type OpenCall } from './open-call.js';

const BODY = '{"content":"Hi"}';

onEachEngine('The call log, when the client leaves before the answer,', (database) => {
  const app = useTestApp(database);

  /** Lets the member's client leave while its publish waits for a unit of work that holds the member, which is undone then. */
  async function leaveDuringPublish({ user, client }: Member, open: OpenCall): Promise<void> {
    const undone = app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await app().service(UsersService).countPosts(tx, [user.id]);
        open.sent.end(BODY.slice(1));
        await expect.poll(() => open.received.caller?.clientId).toBe(client.clientId);
        const closed = once(open.response, 'close');
        open.sent.destroy();
        await closed;
        throw new Error('undone');
      });
    await expect(undone).rejects.toThrow('undone');
  }

  async function rowsOf({ client: { clientId } }: Member): Promise<ApiCall[]> {
    const { manager } = app().dataSource;
    await expect
      .poll(async () => {
        await app().service(CallLog).flush();
        return manager.countBy(ApiCall, { clientId });
      })
      .toBe(1);
    return manager.findBy(ApiCall, { clientId });
  }

  it('C23 has the publish once, as has everything else, when it succeeded', async () => {
    const member = await Member.join(app());
    await leaveDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 201 }]);
    expect(await publishedBy(app(), member)).toEqual(allAre(1));
  });

  it('C23 has the call with status 499, when the publish failed, and nothing else has anything', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await app().service(QuotaService).set(clientId, { limit: 0 }, { actor: 'test' });
    await leaveDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 499 }]);
    expect(await publishedBy(app(), member)).toEqual(allAre(0));
  });
});

onEachEngine('The call log at the end of the service', (database) => {
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
