import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { EventOutbox } from '../../src/modules/events/event-outbox.service.js';
import { WebhookEndpoint } from '../../src/modules/events/event.entities.js';
import { WebhookEndpoints } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhookWorker } from '../../src/modules/webhooks/webhook-worker.service.js';
import { EventReceiver, type ReceivedEvent } from './event-receiver.js';
import { Member } from './member.js';
import type { TestApp } from './test-app.js';

const CHANGE = { actor: 'operator' };

/** Sets the endpoint of an app. @returns the secret of a new endpoint; empty for an existing one */
export async function setEndpoint(app: TestApp, clientId: string, url: string): Promise<string> {
  let secret = '';
  await app.service(WebhookEndpoints).set(clientId, url, CHANGE, async (_endpoint, shown = '') => {
    secret = shown;
  });
  return secret;
}

/** A new member for each test, whose app receives events. Call it in a `describe`, after `useTestApp`. */
export function useListeningMember(app: () => TestApp, given: { test?: boolean } = {}) {
  let receiver: EventReceiver;
  let member: Member;
  let secret: string;

  const listen = (clientId: string, url = receiver.url): Promise<string> =>
    setEndpoint(app(), clientId, url);

  beforeAll(async () => {
    receiver = await EventReceiver.start(() => app().clock.now());
  });
  afterAll(() => receiver.stop());
  // What still waits for the apps of this test must not arrive in the next one.
  afterEach(async () => {
    const { manager } = app().dataSource;
    await manager.updateAll(WebhookEndpoint, { disabledAt: app().clock.now() });
    app().service(EventOutbox).forgetListeners();
  });
  beforeEach(async () => {
    receiver.clear();
    const { test = false } = given;
    const client = await app().addClient({ test });
    const user = await app().addUser(test ? { testCode: '424242' } : {});
    member = await Member.join(app(), { client, user });
    secret = await listen(client.clientId);
  });

  return {
    receiver: () => receiver,
    member: () => member,
    secret: () => secret,
    listen,
    /** Delivers what is due, and returns all events that have arrived. */
    delivered: async (): Promise<ReceivedEvent[]> => {
      const worker = app().service(WebhookWorker);
      await worker.deliverDue();
      await worker.idle();
      return receiver.events(secret);
    },
  };
}
