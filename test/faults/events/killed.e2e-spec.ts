import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull, Not } from 'typeorm';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { WebhookEvent } from '../../../src/modules/events/event.entities.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { QuotaUsage } from '../../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { byExtent, IS_QUICK } from '../../suite.js';
import { onEachServer } from '../../support/database.js';
import { EventReceiver } from '../../support/event-receiver.js';
import { setEndpoint } from '../../support/events.js';
import { Member } from '../../support/member.js';
import { RestartableProcess } from '../../support/restartable-process.js';
import { callAt, type TestApp, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';

const CHANGES = byExtent({ whole: 100, quick: 8 });
const CHANGE_TIMEOUT_MS = 10_000;
/** Longest time from a change to the kill. A worker notices an event within a second. */
const MAX_LIFE_MS = 1500;
/** Time of a delivery, so that kills hit some of them. */
const DELIVERY_MS = 200;
/** The lease of a killed process ends within a minute. */
const DRAIN_TIMEOUT_MS = 90_000;

/** A change of which one app is told. */
interface Prepared {
  /** Sends the change to a process. */
  send: (baseUrl: string) => Promise<Response>;
  isStored: () => Promise<boolean>;
  /** The types of its events. */
  types: readonly string[];
  /** Of the endpoint of the app. */
  path: string;
  secret: string;
}

type Prepare = (
  app: TestApp,
  member: Member,
) => Promise<Pick<Prepared, 'send' | 'isStored' | 'types'>>;

/** Each kind of change that the developer API offers, by another app of the same member or by the app itself. */
const KINDS: readonly Prepare[] = [
  async (app, member) => {
    const { id: postId } = await member.publish();
    const other = await Member.join(app, { user: member.user });
    return {
      types: ['comment.created'],
      send: (baseUrl) =>
        callAt(baseUrl, other.token, 'POST', `/posts/${postId}/comments`, { text: 'Me too' }),
      isStored: () => app.dataSource.manager.existsBy(Comment, { postId }),
    };
  },
  async (app, member) => {
    const { id: postId } = await member.publish();
    const other = await Member.join(app, { user: member.user });
    const { id } = await other.comment(postId);
    return {
      types: ['comment.deleted'],
      send: (baseUrl) => callAt(baseUrl, other.token, 'DELETE', `/comments/${id}`),
      isStored: () => app.dataSource.manager.existsBy(Comment, { id, deletedAt: Not(IsNull()) }),
    };
  },
  async (app, member) => {
    const { id } = await member.publish();
    const { token } = await Member.join(app, { user: member.user });
    return {
      types: ['post.deleted'],
      send: (baseUrl) => callAt(baseUrl, token, 'DELETE', `/posts/${id}`),
      isStored: () => app.dataSource.manager.existsBy(Post, { id, deletedAt: Not(IsNull()) }),
    };
  },
  async (app, { token, client: { clientId } }) => {
    await app.service(QuotaService).set(clientId, { limit: 1 }, { actor: 'operator' });
    return {
      types: ['quota.threshold', 'quota.threshold', 'quota.threshold'],
      send: (baseUrl) => callAt(baseUrl, token, 'POST', '/posts', { content: 'The only one' }),
      isStored: () => app.dataSource.manager.existsBy(QuotaUsage, { clientId, used: 1 }),
    };
  },
];

onEachServer('Events of changes during which a process is killed', (database) => {
  const app = useTestApp(database);
  const services: RestartableProcess[] = [];
  let receiver: EventReceiver;
  const changes: Prepared[] = [];

  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    receiver = await EventReceiver.start(() => new Date());
    receiver.answer = { status: 204, delayMs: DELIVERY_MS };
    for (let number = 0; number < CHANGES; number += 1) {
      const member = await Member.join(app());
      const prepare = KINDS[number % KINDS.length];
      if (!prepare) throw new Error('There is no such kind.');
      const change = await prepare(app(), member);
      const { href, pathname, search } = new URL(`${receiver.url}?app=${number}`);
      const secret = await setEndpoint(app(), member.client.clientId, href);
      changes.push({ ...change, path: pathname + search, secret });
    }
    while (services.length < 2) services.push(await RestartableProcess.start(database));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await receiver?.stop();
  });

  it(
    `arrive if the change was stored, and only then: ${CHANGES} changes and kills`,
    { timeout: DRAIN_TIMEOUT_MS + CHANGES * CHANGE_TIMEOUT_MS },
    async ({ task }) => {
      for (const [number, { send }] of changes.entries()) {
        const service = services[number % services.length];
        if (!service) throw new Error('No process was started.');
        const sent = send(service.baseUrl).then(
          (response) => response.text(),
          () => undefined,
        );
        // Many of the kills come soon, when the change may not be stored yet.
        await sleep(MAX_LIFE_MS * (number / CHANGES) ** 3);
        await service.killAndRestart();
        await sent;
      }
      const { manager } = app().dataSource;
      await expect
        .poll(() => manager.countBy(WebhookEvent, { outcome: IsNull() }), {
          timeout: DRAIN_TIMEOUT_MS,
          interval: 500,
        })
        .toBe(0);
      let stored = 0;
      let expected = 0;
      for (const { isStored, types, path, secret } of changes) {
        const isChanged = await isStored();
        // An event that arrived twice has the same id.
        const events = new Map(
          receiver.events(secret, path).map((event) => [event.id, event.type]),
        );
        expect([...events.values()], path).toEqual(isChanged ? types : []);
        if (isChanged) stored += 1;
        expected += isChanged ? types.length : 0;
      }
      expect(stored).toBeGreaterThan(CHANGES / 2);
      if (!IS_QUICK) expect(stored).toBeLessThan(CHANGES);
      reportFigure(
        task,
        `${database.engine.label}: ${CHANGES} kills, ${stored} changes stored with ${expected} events, ${receiver.deliveries.length} deliveries; ${CHANGES - stored} changes rolled back without an event`,
      );
    },
  );
});
