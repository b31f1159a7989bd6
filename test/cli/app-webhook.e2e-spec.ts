import { WebhookWorker } from '../../src/modules/webhooks/webhook-worker.service.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
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
    [
      'https://10.1.2.3/events',
      /has the address 10\.1\.2\.3, which is not public\. .* ask the partner for/,
    ],
    ['https://no-such-name.invalid/events', /could not be resolved/],
  ])('refuse %s and change nothing', async (url, message) => {
    expectFailure(await cli.run('app', 'webhook', 'set', clientId, url), message);
    expectFailure(await cli.run('app', 'webhook', 'show', clientId), /has no endpoint for events/);
  });

  it.each([
    ['a line feed and an escape sequence', '/a\nb\u001b[31m', '/ab%1B[31m'],
    ['a direction mark and spaces at the end', '/\u202e  ', '/%E2%80%AE'],
  ])('store a URL without %s', async (_what, given, stored) => {
    await webhook('set', `${receiver.url}${given}`);
    expect((await webhook<Endpoint>('show')).url).toBe(`${receiver.url}${stored}`);
  });

  it('refuse a long URL, and escape an id with control characters', async () => {
    const long = `${receiver.url}/${'x'.repeat(100_000)}`;
    expectFailure(await cli.run('app', 'webhook', 'set', clientId, long), /at most 2,048/);
    const { stderr } = await cli.run('app', 'webhook', 'show', 'svc_app_\u001b[31m\u202e');
    expect(stderr).toContain(String.raw`svc_app_\u001b[31m\u202e`);
  });

  it('send no events of another app again', async () => {
    await webhook('set', receiver.url);
    const { id } = await webhook<{ id: string }>('test');
    await deliver();
    const other = await app().addClient();
    await cli.json('app', 'webhook', 'set', other.clientId, receiver.url);
    expect(await cli.json('app', 'webhook', 'redeliver', other.clientId, id)).toEqual({
      client_id: other.clientId,
      events: 0,
    });
    expect(await webhook<Event[]>('deliveries', '--outcome', 'waiting')).toEqual([]);
  });

  it('print the secret only when it is new or asked for, and store it nowhere', async () => {
    const { secret: first } = await webhook<Endpoint>('set', receiver.url);
    const { secret: second } = await webhook<Endpoint>('rotate-secret', '--grace', '1h');
    await webhook('test');
    await deliver();
    const outputs = [];
    for (const [name, ...args] of [
      ['set', receiver.url],
      ['show'],
      ['disable', '--yes'],
      ['enable'],
      ['test'],
      ['deliveries'],
      ['redeliver', '--failed'],
    ] as const)
      for (const json of [[], ['--json']]) {
        const result = await cli.run('app', 'webhook', name, clientId, ...args, ...json);
        expect(result.code).toBe(0);
        outputs.push(result.stdout, result.stderr);
      }
    const audited = await cli.run('audit', 'list', '--json');
    expect(audited.code).toBe(0);
    const metrics = await app().service(Metrics).registry.metrics();
    const all = [...outputs, audited.stdout, metrics].join('\n');
    for (const secret of [first, second]) {
      expect(secret).toMatch(/^whsec_/);
      expect(all).not.toContain(secret?.slice('whsec_'.length));
    }
    const { stdout } = await cli.run('app', 'webhook', 'show', clientId, '--secret');
    expect(stdout).toContain(second);
    expect(stdout).not.toContain(first);
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
