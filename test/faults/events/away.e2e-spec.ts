import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull } from 'typeorm';
import { WebhookEvent } from '../../../src/modules/events/event.entities.js';
import { WebhookEndpoints } from '../../../src/modules/webhooks/webhook-endpoints.service.js';
import { HOUR, MINUTE, SECOND } from '../../../src/platform/clock.js';
import { byExtent } from '../../suite.js';
import { cleanUp } from '../../support/background.js';
import { onEachEngine, onEachServer } from '../../support/database.js';
import { EventReceiver } from '../../support/event-receiver.js';
import { setEndpoint, useListeningMember } from '../../support/events.js';
import { Member } from '../../support/member.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { BreakableServer } from '../database-outage/breakable-server.js';
import { reportFigure } from '../figures.js';

const OUTAGE_MS = byExtent({ whole: MINUTE, quick: 5 * SECOND });
/** A lease that was not ended lasts a minute. */
const RECOVERY_MS = 90 * SECOND;
const DELIVERY_MS = 1000;

onEachServer('Events while the database is away', ({ engine }) => {
  let database: BreakableServer | undefined;
  let served: StartedService | undefined;
  let receiver: EventReceiver | undefined;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
    if (database === undefined) return;
    const { url, adminUrl: directUrl } = database;
    served = await startService({ url, directUrl, env: { DB_TIMEOUT_MS: '1000' } });
    receiver = await EventReceiver.start(() => new Date());
  }, 180_000);
  afterAll(() =>
    cleanUp(
      () => served?.stop(),
      () => receiver?.stop(),
      () => database?.stop(),
    ),
  );

  it(
    'are delivered once it is back: those that waited, and the one whose delivery was not recorded',
    { timeout: OUTAGE_MS + RECOVERY_MS + MINUTE },
    async ({ task, skip }) => {
      if (!database || !served || !receiver) return skip();
      const { app } = served;
      const member = await Member.join(app);
      const { id: postId } = await member.publish();
      const secret = await setEndpoint(app, member.client.clientId, receiver.url);
      // Until the process has noticed the endpoint.
      await sleep(6 * SECOND);
      receiver.answer = { status: 204, delayMs: DELIVERY_MS };
      const first = await member.comment(postId);
      await expect.poll(() => receiver?.deliveries.length, { timeout: 10_000 }).toBe(1);
      const second = await member.comment(postId);
      // The response to the first delivery has not come yet, so its result cannot be recorded.
      await database.network.cut('refused');
      const rejected = await member.post(`/posts/${postId}/comments`, { text: 'Not now' });
      expect(rejected.status).toBe(503);
      await sleep(OUTAGE_MS);
      await database.network.repair();
      const events = () => receiver?.events(secret).map(({ data }) => data.comment) ?? [];
      await expect
        .poll(() => app.dataSource.manager.countBy(WebhookEvent, { outcome: IsNull() }), {
          timeout: RECOVERY_MS,
          interval: 500,
        })
        .toBe(0);
      const ids = (events() as { id: string }[]).map(({ id }) => id);
      expect(new Set(ids)).toEqual(new Set([first.id, second.id]));
      expect(ids.filter((id) => id === first.id)).toHaveLength(2);
      expect(ids.filter((id) => id === second.id)).toHaveLength(1);
      reportFigure(
        task,
        `${engine.label}: database away for ${OUTAGE_MS / SECOND} s: 2 events, the one that was being delivered twice, none of a rejected change`,
      );
    },
  );
});

onEachEngine('Events while the endpoint is away', (database) => {
  const app = useTestApp(database);
  const { member, receiver, delivered } = useListeningMember(app);

  it('for a day are all delivered once it is back, and it stays enabled', async ({ task }) => {
    const { id: postId } = await member().publish();
    await receiver().goAway();
    const ids: string[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      // The access token of an hour ago has expired.
      const { id } = await (await Member.join(app(), member())).comment(postId);
      ids.push(id);
      await delivered();
      app().clock.advance(HOUR);
    }
    expect(receiver().deliveries).toEqual([]);
    await receiver().comeBack();
    // The longest wait until the next attempt of an event of that day.
    for (let hours = 0; hours < 16; hours += 1) {
      await delivered();
      app().clock.advance(HOUR);
    }
    const events = await delivered();
    const arrived = events.map(({ data }) => (data.comment as { id: string }).id);
    expect(arrived.toSorted()).toEqual(ids.toSorted());
    const { clientId } = member().client;
    expect(await app().service(WebhookEndpoints).get(clientId)).toMatchObject({
      disabledAt: null,
      failingSince: null,
    });
    reportFigure(
      task,
      `${database.engine.label}: endpoint away for a day: 24 events, each delivered once within 16 hours of its return`,
    );
  });
});
