import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { newSecret } from '../../src/platform/secrets.js';
import { AppSecret } from '../../src/modules/oauth/clients/client.entities.js';
import { AppSecretsService } from '../../src/modules/oauth/clients/app-secrets.service.js';
import { onOneEngine } from '../support/database.js';
import { sendForm } from '../support/oauth-flow.js';
import { expectTokenError, json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const TOKEN = '/oauth/token';
const EXPOSED = 'app.secret_exposed';

onOneEngine('Client secret in a URL', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let secret: string;

  beforeEach(async () => {
    client = await app().addClient();
    secret = client.secret ?? '';
  });

  /** Asserts this number of audit events about an exposure, each with the id of the client's secret. */
  async function expectRecorded(times = 1): Promise<void> {
    const { manager } = app().dataSource;
    const { clientId } = client;
    const events = await manager.findBy(AuditEvent, { subject: clientId, action: EXPOSED });
    const { id: secretId } = await manager.findOneByOrFail(AppSecret, { clientId });
    const recorded = { actor: 'service', address: '127.0.0.1', details: { secretId } };
    expect(events).toHaveLength(times);
    for (const event of events) expect(event).toMatchObject(recorded);
  }

  const query = (parameters: Record<string, string>): string =>
    `?${new URLSearchParams(parameters).toString()}`;
  const basic = (id: string, password: string): string =>
    `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;

  const post = (parameters: Record<string, string>, headers = {}): Promise<Response> =>
    app().fetch(TOKEN + query(parameters), { method: 'POST', headers });

  it.each([TOKEN, '/oauth/revoke', '/oauth/introspect'])(
    'O63 records the exposure and demands a new secret in the response of %s',
    async (path) => {
      const url = path + query({ client_secret: secret });
      const response = await sendForm(app(), url, client, { token: 'x' });
      expect(
        (await json<{ error_description: string }>(response.clone())).error_description,
      ).toMatch(/leaked and must be rotated/);
      await expectTokenError(response, 'invalid_request');
      await expectRecorded();
    },
  );

  it.each(['GET', 'PUT', 'HEAD'])(
    'O63 records the exposure when the method is %s',
    async (method) => {
      const { clientId: client_id } = client;
      const url = TOKEN + query({ grant_type: 'refresh_token', client_id, client_secret: secret });
      const response = await app().fetch(url, { method });
      expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
        status: 405,
        allow: 'OPTIONS, POST',
      });
      if (method !== 'HEAD') expect(await response.text()).toContain('leaked and must be rotated');
      await expectRecorded();
    },
  );

  it.each<[title: string, send: () => Promise<Response>]>([
    [
      'all parameters are in the query',
      () => post({ client_id: client.clientId, client_secret: secret }),
    ],
    [
      'HTTP Basic has the right secret, too',
      () => post({ client_secret: secret }, { authorization: basic(client.clientId, secret) }),
    ],
    [
      'the parameter is repeated and no app is named',
      () => app().fetch(`${TOKEN}?client_secret=x&client_secret=${secret}`, { method: 'POST' }),
    ],
  ])('O63 records the exposure when %s', async (_title, send) => {
    await expectTokenError(await send(), 'invalid_request');
    await expectRecorded();
  });

  it('O63 rejects an invalid secret, and records no exposure', async () => {
    const unknownSecret = newSecret('svc_sec');
    for (const client_secret of ['x', secret.slice(0, -1), unknownSecret]) {
      const response = await sendForm(app(), TOKEN + query({ client_secret }), client, {});
      await expectTokenError(response, 'invalid_request');
    }
    const { id } = await app().dataSource.manager.findOneByOrFail(AppSecret, {
      clientId: client.clientId,
    });
    await app().service(AppSecretsService).revoke(client.clientId, id, { actor: 'test' });
    const url = TOKEN + query({ client_secret: secret });
    await expectTokenError(await app().fetch(url, { method: 'POST' }), 'invalid_request');
    await expectRecorded(0);
  });

  it('O63 treats an empty client_secret as omitted', async () => {
    const response = await sendForm(app(), `${TOKEN}?client_secret=`, client, {
      grant_type: 'foo',
    });
    await expectTokenError(response, 'unsupported_grant_type');
    await expectRecorded(0);
  });
});
