import { WebhookEndpoint, WebhookEvent } from '../../src/modules/events/event.entities.js';
import { WebhookEndpoints } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhookWorker } from '../../src/modules/webhooks/webhook-worker.service.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { onEachEngine, onOneServer } from '../support/database.js';
import { useListeningMember } from '../support/events.js';
import { TestApp, useTestApp } from '../support/test-app.js';

const CHANGE = { actor: 'operator' };
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The waits between the attempts, without jitter. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

onEachEngine('Deliveries of events', (database) => {
  const app = useTestApp(database);
  const { member, receiver, secret, delivered } = useListeningMember(app);
  const clientId = (): string => member().client.clientId;
  const endpoints = (): WebhookEndpoints => app().service(WebhookEndpoints);
  const rows = (): Promise<WebhookEvent[]> => endpoints().deliveries(clientId(), 100);

  it('are repeated with the same id after growing waits, ten times in three days', async () => {
    receiver().answer = { status: 500 };
    const id = await endpoints().test(clientId());
    await delivered();
    for (const [index, wait] of WAITS.entries()) {
      const [row] = await rows();
      expect(row).toMatchObject({ id, attempts: index + 1, lastResult: '500', outcome: null });
      const waits = (row?.dueAt?.getTime() ?? 0) - app().clock.now().getTime();
      expect(waits).toBeGreaterThanOrEqual(wait);
      expect(waits).toBeLessThanOrEqual(1.1 * wait);
      app().clock.advance(waits - 1);
      await delivered();
      expect(receiver().deliveries).toHaveLength(index + 1);
      app().clock.advance(1);
      await delivered();
    }
    expect(receiver().deliveries).toHaveLength(10);
    expect((await rows())[0]).toMatchObject({ attempts: 10, outcome: 'failed', dueAt: null });
    expect(new Set(receiver().deliveries.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([id]),
    );
  });

  it.each([
    ['429', { status: 429, headers: { 'retry-after': '3600' } }, HOUR],
    ['503 with more than a day', { status: 503, headers: { 'retry-after': '999999' } }, DAY],
    ['500', { status: 500, headers: { 'retry-after': '3600' } }, 5 * SECOND],
  ])('obey Retry-After of %s', async (_what, answer, wait) => {
    receiver().answer = answer;
    await endpoints().test(clientId());
    await delivered();
    const [row] = await rows();
    const waits = (row?.dueAt?.getTime() ?? 0) - app().clock.now().getTime();
    expect(waits).toBeGreaterThanOrEqual(wait);
    expect(waits).toBeLessThanOrEqual(1.1 * wait);
  });

  it.each([
    ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, '302'],
    ['a large response', { status: 200, body: 'x'.repeat(1_000_000) }, '200'],
  ])('do not follow %s', async (_what, answer, result) => {
    receiver().answer = answer;
    await endpoints().test(clientId());
    await delivered();
    expect((await rows())[0]).toMatchObject({ attempts: 1, lastResult: result });
  });

  it('disable an endpoint that returns 410', async () => {
    receiver().answer = { status: 410 };
    await endpoints().test(clientId());
    await delivered();
    expect(await endpoints().get(clientId())).toMatchObject({ disabledBy: 'status_410' });
    const where = { subject: clientId(), action: 'webhook.disabled' as const };
    expect(await app().dataSource.manager.countBy(AuditEvent, where)).toBe(1);
    const { id: postId } = await member().publish();
    await member().comment(postId);
    app().clock.advance(DAY);
    await delivered();
    expect(receiver().deliveries).toHaveLength(1);
    expect(await rows()).toHaveLength(1);
  });

  it('disable an endpoint when all have failed for five days, and resume when it is enabled', async () => {
    receiver().answer = { status: 500 };
    for (let hours = 0; hours < 5 * 24; hours += 6) {
      await endpoints().test(clientId());
      await delivered();
      app().clock.advance(6 * HOUR);
    }
    expect(await endpoints().get(clientId())).toMatchObject({ disabledAt: null });
    await delivered();
    expect(await endpoints().get(clientId())).toMatchObject({ disabledBy: 'failures' });
    receiver().clear();
    expect(await endpoints().switch(clientId(), true, CHANGE)).toBe(true);
    app().clock.advance(DAY);
    await delivered();
    expect(receiver().deliveries.length).toBeGreaterThan(0);
    expect(await endpoints().get(clientId())).toMatchObject({ failingSince: null });
  });

  it('keep an endpoint of which one delivery succeeds now and then', async () => {
    for (let days = 0; days < 8; days += 1) {
      receiver().answer = { status: days % 3 === 0 ? 200 : 500 };
      await endpoints().test(clientId());
      await delivered();
      app().clock.advance(DAY);
    }
    expect(await endpoints().get(clientId())).toMatchObject({ disabledAt: null });
  });

  it('are signed with the former secret, too, while a new one is introduced', async () => {
    let next = '';
    await endpoints().rotateSecret(clientId(), HOUR, CHANGE, async (_endpoint, one) => {
      next = one;
    });
    await endpoints().test(clientId());
    expect(await delivered()).toHaveLength(1);
    expect(receiver().events(next)).toHaveLength(1);
    app().clock.advance(HOUR);
    receiver().clear();
    await endpoints().test(clientId());
    await delivered().catch(() => undefined);
    expect(receiver().events(next)).toHaveLength(1);
    expect(() => receiver().events(secret())).toThrow('No matching signature');
  });

  it('to one endpoint are at most four at once, also if several processes deliver', async () => {
    receiver().answer = { status: 200, delayMs: 20 };
    for (let count = 0; count < 40; count += 1) await endpoints().test(clientId());
    const worker = app().service(WebhookWorker);
    await Promise.all([worker.deliverDue(), worker.deliverDue(), worker.deliverDue()]);
    await worker.idle();
    expect(receiver().deliveries).toHaveLength(40);
    expect(receiver().maxConcurrent).toBe(4);
  });

  it('wait for the lease of another process, which may have been killed', async () => {
    const leasedUntil = new Date(app().clock.now().getTime() + MINUTE);
    const { manager } = app().dataSource;
    await manager.update(WebhookEndpoint, { clientId: clientId() }, { leasedUntil });
    await endpoints().test(clientId());
    expect(await delivered()).toEqual([]);
    app().clock.advance(MINUTE);
    expect(await delivered()).toHaveLength(1);
  });

  it('are repeated by an operator with the same id', async () => {
    const id = await endpoints().test(clientId());
    await delivered();
    expect(await endpoints().redeliver(clientId(), [id, 'msg_x'], CHANGE)).toBe(1);
    expect((await delivered()).map((event) => event.id)).toEqual([id, id]);
    expect(await endpoints().redeliver(clientId(), 'failed', CHANGE)).toBe(0);
  });
});

onOneServer('Deliveries of a process that stops', (database) => {
  const app = useTestApp(database);
  const { member, receiver, delivered } = useListeningMember(app);

  it('are broken off, and made by another process at once', async () => {
    const { clientId } = member().client;
    const stopping = await TestApp.start(database);
    stopping.clock.set(app().clock.now().toISOString());
    receiver().answer = { status: 204, delayMs: HOUR };
    const id = await app().service(WebhookEndpoints).test(clientId);
    await stopping.service(WebhookWorker).deliverDue();
    await expect.poll(() => receiver().deliveries.length).toBe(1);
    await stopping.stop();
    receiver().answer = { status: 204 };
    expect((await delivered()).map((event) => event.id)).toEqual([id, id]);
    const [row] = await app().service(WebhookEndpoints).deliveries(clientId, 1);
    expect(row).toMatchObject({ attempts: 1, outcome: 'delivered' });
  });
});
