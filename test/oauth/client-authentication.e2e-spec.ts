import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { CHALLENGE, exchange, VERIFIER, newCode } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { comparable, expectTokenError } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const BASIC_CHALLENGE = 'Basic realm="oauth", charset="UTF-8"';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

onOneEngine('Client authentication at the token endpoint', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicClient: TestClient;
  let user: UserWithPhone;
  let id: string;
  let secret: string;

  beforeAll(async () => {
    client = await app().addClient();
    publicClient = await app().addClient({ kind: 'public' });
    user = await app().addUser();
    id = client.clientId;
    secret = client.secret ?? '';
  });

  /** Refreshes newly issued tokens of an app with these credentials and no others. */
  async function refreshWith(
    target: TestClient,
    form: Record<string, string>,
    authorization?: string,
  ): Promise<Response> {
    const { refreshToken } = await app().issueTokens(user, target, target.scopes);
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      ...form,
    });
    const headers = authorization === undefined ? undefined : { authorization };
    return app().fetch('/oauth/token', { method: 'POST', headers, body });
  }

  it('O81 accepts Basic with an unencoded client_id and secret', async () => {
    const authorization = `Basic ${base64(`${id}:${secret}`)}`;
    expect((await refreshWith(client, {}, authorization)).status).toBe(200);
  });

  it('O82 O83 accepts the same credentials in Basic and in the body, or in the body alone', async () => {
    const form = { client_id: id, client_secret: secret };
    const forms: Record<string, string>[] = [form, { client_secret: secret }];
    const encoded = (text: string): string => text.replaceAll('_', '%5F').replaceAll('-', '%2D');
    for (const credentials of [`${id}:${secret}`, `${encoded(id)}:${encoded(secret)}`]) {
      const basic = `Basic ${base64(credentials)}`;
      for (const same of forms) expect((await refreshWith(client, same, basic)).status).toBe(200);
    }
    expect((await refreshWith(client, form)).status).toBe(200);
  });

  it('O83 rejects Basic together with another secret or client_id in the body', async () => {
    const basic = `Basic ${base64(`${id}:${secret}`)}`;
    const others: Record<string, string>[] = [
      { client_id: publicClient.clientId },
      { client_id: publicClient.clientId, client_secret: secret },
      { client_id: id, client_secret: `${secret}x` },
    ];
    for (const other of others)
      await expectTokenError(await refreshWith(client, other, basic), 'invalid_request');
  });

  it('O83 rejects a wrong secret in Basic and in the body with 401', async () => {
    const wrong = `${secret}x`;
    const form = { client_id: id, client_secret: wrong };
    const response = await refreshWith(client, form, `Basic ${base64(`${id}:${wrong}`)}`);
    await expectTokenError(response, 'invalid_client');
  });

  it.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])(
    'O83 accepts the same credentials in Basic and in the body at %s',
    async (path) => {
      const headers = { authorization: `Basic ${base64(`${id}:${secret}`)}` };
      const body = new URLSearchParams({ client_id: id, client_secret: secret, token: 'x' });
      const response = await app().fetch(path, { method: 'POST', headers, body });
      // Without a grant type, the token endpoint rejects the request after the authentication.
      expect(response.status).toBe(path === '/oauth/token' ? 400 : 200);
      expect(await response.text()).not.toContain('secret');
    },
  );

  it('O84 rejects a wrong secret in Basic with 401 and a challenge', async () => {
    const response = await refreshWith(client, {}, `Basic ${base64(`${id}:${secret}x`)}`);
    expect(response.headers.get('www-authenticate')).toBe(BASIC_CHALLENGE);
    await expectTokenError(response, 'invalid_client');
  });

  it('O85 rejects a wrong secret in the body with 401 and no challenge', async () => {
    const response = await refreshWith(client, { client_id: id, client_secret: `${secret}x` });
    expect(response.headers.get('www-authenticate')).toBeNull();
    await expectTokenError(response, 'invalid_client');
  });

  it.each(['the form', 'Basic'])(
    'O86 sends the same bytes for an unknown app and for a wrong secret in %s',
    async (place) => {
      const rejectionOf = async (client_id: string): Promise<object> =>
        comparable(
          place === 'Basic'
            ? await refreshWith(client, {}, `Basic ${base64(`${client_id}:wrong`)}`)
            : await refreshWith(client, { client_id, client_secret: 'wrong' }),
        );
      const wrong = await rejectionOf(id);
      expect(wrong).toMatchObject({ status: 401 });
      expect(await rejectionOf('svc_app_01jdx8m3wze5cr4w0hg3k7n2qp')).toEqual(wrong);
      expect(await rejectionOf('unknown')).toEqual(wrong);
    },
  );

  it.each([
    ['control characters', `Basic ${base64('\0\x01:\x7f')}`],
    ['bytes that are not UTF-8', `Basic ${Buffer.of(0xff, 0x3a, 0xfe).toString('base64')}`],
    ['another scheme', 'Bearer svcat_x'],
    ['8,000 characters', `Basic ${'A'.repeat(8000)}`],
  ])('O87 rejects an Authorization header with %s with 401 and a challenge', async (_, header) => {
    const response = await refreshWith(client, {}, header);
    expect(response.headers.get('www-authenticate')).toBe(BASIC_CHALLENGE);
    await expectTokenError(response, 'invalid_client');
  });

  it('O88 rejects a confidential app without its secret, even with a code_verifier', async () => {
    const response = await refreshWith(client, { client_id: id, code_verifier: VERIFIER });
    expect(response.headers.get('www-authenticate')).toBeNull();
    await expectTokenError(response, 'invalid_client');
    const empty = await refreshWith(client, { client_id: id, client_secret: '' });
    await expectTokenError(empty, 'invalid_client');
    await expectTokenError(
      await refreshWith(client, {}, `Basic ${base64(`${id}:`)}`),
      'invalid_client',
    );
  });

  it('O108 rejects a request without a client_id at each endpoint with 401, no challenge and a hint', async () => {
    const forms = ['', '&client_id=', `&client_secret=${secret}`];
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect'])
      for (const form of forms) {
        const body = new URLSearchParams(`token=x${form}`);
        const response = await app().fetch(path, { method: 'POST', body });
        expect(response.headers.get('www-authenticate')).toBeNull();
        expect(await response.clone().text()).toContain('Send client_id and client_secret');
        await expectTokenError(response, 'invalid_client');
      }
  });

  it.each(['Bearer svcat_x', 'DPoP svcat_x', 'Digest username="x"', 'svcat_x'])(
    'O87 ignores the Authorization header "%s" if the form authenticates the client, at each endpoint',
    async (authorization) => {
      const credentials = { client_id: id, client_secret: secret };
      expect((await refreshWith(client, credentials, authorization)).status).toBe(200);
      const publicForm = { client_id: publicClient.clientId };
      expect((await refreshWith(publicClient, publicForm, authorization)).status).toBe(200);
      const { accessToken: token } = await app().issueTokens(user, client, client.scopes);
      const body = new URLSearchParams({ ...credentials, token });
      const init = { method: 'POST', headers: { authorization }, body };
      const introspection = await app().fetch('/oauth/introspect', init);
      expect(await introspection.json()).toMatchObject({ active: true, client_id: id });
      expect((await app().fetch('/oauth/revoke', init)).status).toBe(200);
      const revoked = await app().fetch('/oauth/introspect', init);
      expect(await revoked.json()).toEqual({ active: false });
    },
  );

  it('O87 rejects a wrong secret in the form beside an access token without a challenge', async () => {
    const credentials = { client_id: id, client_secret: `${secret}x` };
    const response = await refreshWith(client, credentials, 'Bearer svcat_x');
    expect(response.headers.get('www-authenticate')).toBeNull();
    await expectTokenError(response, 'invalid_client');
  });

  it('says that an Authorization header is malformed', async () => {
    const response = await refreshWith(client, {}, 'Bearer x');
    expect(await response.text()).toContain('The Authorization header is malformed.');
  });

  it.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])(
    'O83 rejects two Authorization headers at %s, even when both are right',
    async (path) => {
      const right = `Basic ${base64(`${id}:${secret}`)}`;
      for (const authorizations of [
        [right, right],
        [right, 'Bearer x'],
      ]) {
        const body = 'grant_type=foo&token=x';
        const response = await postWithAuthorizations(path, authorizations, body);
        expect(response.status).toBe(400);
        expect(response.body).toContain('"error":"invalid_request"');
        expect(response.body).toContain('Send one Authorization header');
      }
    },
  );

  /** Sends several Authorization headers. Uses `node:http`, since `fetch` joins headers of one name. */
  async function postWithAuthorizations(
    path: string,
    authorizations: string[],
    body: string,
  ): Promise<{ status: number | undefined; body: string }> {
    const sent = request(new URL(path, app().baseUrl), { method: 'POST' });
    sent.setHeader('authorization', authorizations);
    sent.setHeader('content-type', 'application/x-www-form-urlencoded');
    const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    return { status: response.statusCode, body: await textOf(response) };
  }

  it('O88 rejects a code_verifier in place of the secret, and accepts the code with the secret after that', async () => {
    const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const code = await newCode(app(), client, user, challenge);
    const form = { code_verifier: VERIFIER };
    const withoutSecret = await exchange(app(), client, code, {
      ...form,
      client_secret: undefined,
    });
    await expectTokenError(withoutSecret, 'invalid_client');
    expect((await exchange(app(), client, code, form)).status).toBe(200);
  });

  it('O89 accepts the client_id of a public app in the body or in Basic with an empty password', async () => {
    const { clientId } = publicClient;
    expect((await refreshWith(publicClient, { client_id: clientId })).status).toBe(200);
    const basic = `Basic ${base64(`${clientId}:`)}`;
    expect((await refreshWith(publicClient, {}, basic)).status).toBe(200);
  });

  it('O89 rejects a public app with a secret', async () => {
    const { clientId } = publicClient;
    const body = await refreshWith(publicClient, { client_id: clientId, client_secret: 'x' });
    await expectTokenError(body, 'invalid_client');
    const basic = await refreshWith(publicClient, {}, `Basic ${base64(`${clientId}:x`)}`);
    await expectTokenError(basic, 'invalid_client');
  });

  it('rejects the secret of another app', async () => {
    const otherApp = await app().addClient();
    const form = { client_id: id, client_secret: otherApp.secret ?? '' };
    await expectTokenError(await refreshWith(client, form), 'invalid_client');
  });

  it('O89 does not count the empty password of a public app as a failure', async () => {
    const otherApp = await app().addClient({ kind: 'public' });
    const basic = `Basic ${base64(`${otherApp.clientId}:`)}`;
    // One more than the limit of failed token requests.
    for (let call = 0; call < 21; call += 1)
      expect((await refreshWith(otherApp, {}, basic)).status).toBe(200);
  });
});
