import { WebhookWorker } from '../../src/modules/webhooks/webhook-worker.service.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { expectFailure } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { EventReceiver } from '../support/event-receiver.js';

interface Endpoint {
  url: string;
  status: string;
  secret: string | null;
  changed?: boolean;
}

interface Event {
  id: string;
  outcome: string;
  last_result: string | null;
}

onOneEngine('Commands "app webhook"', (database) => {
  const { app, cli } = useCommands(database);
  let receiver: EventReceiver;
  let clientId: string;

  beforeAll(async () => {
    receiver = await EventReceiver.start(() => app().clock.now());
  });
  afterAll(() => receiver.stop());
  beforeEach(async () => {
    receiver.clear();
    ({ clientId } = await app().addClient());
  });

  const webhook = <T>(name: string, ...args: string[]): Promise<T> =>
    cli.json<T>('app', 'webhook', name, clientId, ...args);
  const deliver = async (): Promise<void> => {
    // Commands use the real clock.
    app().clock.set(new Date().toISOString());
    await app().service(WebhookWorker).deliverDue();
    await app().service(WebhookWorker).idle();
  };

  it('set an endpoint, test it, list its deliveries and send one again', async () => {
    const { secret, ...endpoint } = await webhook<Endpoint>('set', receiver.url);
    expect(endpoint).toMatchObject({ url: receiver.url, status: 'enabled' });
    const { id } = await webhook<{ id: string }>('test');
    await deliver();
    expect(receiver.events(secret ?? '').map((event) => event.id)).toEqual([id]);
    expect(await webhook<Event[]>('deliveries')).toMatchObject([
      { id, outcome: 'delivered', last_result: '204' },
    ]);
    expect(await webhook('redeliver', id)).toEqual({ client_id: clientId, events: 1 });
    expect(await webhook<Event[]>('deliveries', '--outcome', 'waiting')).toMatchObject([{ id }]);
    await deliver();
    expect(receiver.deliveries).toHaveLength(2);
  });

  it('show the secret only on request, and keep it when the URL changes', async () => {
    const { secret } = await webhook<Endpoint>('set', receiver.url);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await webhook<Endpoint>('show')).secret).toBeNull();
    expect((await webhook<Endpoint>('set', `${receiver.url}/2`)).secret).toBeNull();
    expect(await webhook('show', '--secret')).toMatchObject({ secret, url: `${receiver.url}/2` });
  });

  it('disable and enable', async () => {
    await webhook('set', receiver.url);
    expect(await webhook('disable', '--yes')).toMatchObject({ status: 'disabled', changed: true });
    expect(await webhook('disable', '--yes')).toMatchObject({ changed: false });
    expectFailure(await cli.run('app', 'webhook', 'test', clientId), /endpoint is disabled\. Run/);
    expect(await webhook('enable')).toMatchObject({ status: 'enabled', changed: true });
    const where = { subject: clientId };
    const events = await app().dataSource.manager.findBy(AuditEvent, where);
    expect(events.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['webhook.set', 'webhook.disabled', 'webhook.enabled']),
    );
  });

  it.each([
    ['http://garden.example/events', /must begin with https:\/\//],
    ['https://10.1.2.3/events', /has the address 10\.1\.2\.3, which is not public\./],
    ['https://no-such-name.invalid/events', /could not be resolved/],
  ])('refuse %s and change nothing', async (url, message) => {
    expectFailure(await cli.run('app', 'webhook', 'set', clientId, url), message);
    expectFailure(await cli.run('app', 'webhook', 'show', clientId), /has no endpoint for events/);
  });

  it('name an endpoint that fails in "doctor"', async () => {
    await webhook('set', receiver.url);
    receiver.answer = { status: 500 };
    await webhook('test');
    await deliver();
    const { stdout } = await cli.run('doctor', '--json');
    expect(stdout).toContain(`The deliveries of events to ${clientId} fail since`);
  });
});
