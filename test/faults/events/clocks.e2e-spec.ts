import { IsNull } from 'typeorm';
import { WebhookEvent } from '../../../src/modules/events/event.entities.js';
import { byExtent } from '../../suite.js';
import { onEachServer } from '../../support/database.js';
import { EventReceiver } from '../../support/event-receiver.js';
import { setEndpoint } from '../../support/events.js';
import { Member } from '../../support/member.js';
import { shiftedClock } from '../../support/shifted-clock.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { callAt, TEST_LIMITS, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';

const COMMENTS = byExtent({ whole: 400, quick: 40 });
const SKEW_MS = 5000;
const DELIVERY_MS = 20;

onEachServer('Events of two processes whose clocks are five seconds apart', (database) => {
  const app = useTestApp(database);
  const services: ServiceProcess[] = [];
  let receiver: EventReceiver;
  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    receiver = await EventReceiver.start(() => new Date());
    receiver.answer = { status: 204, delayMs: DELIVERY_MS };
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await receiver?.stop();
  });

  it('are each delivered once', { timeout: 120_000 }, async ({ task }) => {
    const member = await Member.join(app());
    const { id: postId } = await member.publish();
    const secret = await setEndpoint(app(), member.client.clientId, receiver.url);
    for (const skewMs of [0, SKEW_MS])
      services.push(
        await startProcess({
          url: database.url,
          env: { ...TEST_LIMITS, MIGRATE: '0', DEMO: '0' },
          nodeOptions: [`--import=${shiftedClock(skewMs)}`],
        }),
      );
    const ids: string[] = [];
    for (let number = 0; number < COMMENTS; number += 1) {
      const baseUrl = services[number % 2]?.baseUrl ?? '';
      const path = `/posts/${postId}/comments`;
      const response = await callAt(baseUrl, member.token, 'POST', path, { text: `${number}` });
      expect(response.status).toBe(201);
      ids.push(((await response.json()) as { id: string }).id);
    }
    const { manager } = app().dataSource;
    await expect
      .poll(() => manager.countBy(WebhookEvent, { outcome: IsNull() }), { timeout: 60_000 })
      .toBe(0);
    const events = receiver.events(secret);
    const arrived = events.map(({ data }) => (data.comment as { id: string }).id);
    expect(arrived.toSorted()).toEqual(ids.toSorted());
    reportFigure(
      task,
      `${database.engine.label}: two processes, clocks ${SKEW_MS / 1000} s apart: ${COMMENTS} events, each delivered once`,
    );
  });
});
