import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import {
  approve,
  CHALLENGE as CODE_CHALLENGE,
  exchange,
  requestToken,
  VERIFIER,
} from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const CHALLENGE = 'Basic realm="oauth", charset="UTF-8"';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

onOneEngine('Client authentication at the token endpoint', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let native: TestClient;
  let id: string;
  let secret: string;

  beforeAll(async () => {
    client = await app().addClient();
    native = await app().addClient({ kind: 'public' });
    id = client.clientId;
    secret = client.secret ?? '';
  });

  /** An exchange of a fresh code with these credentials and no others. */
  async function exchangeWith(
    of: TestClient,
    form: Record<string, string>,
    authorization?: string,
  ): Promise<Response> {
    const code = (await approve(app(), await app().addUser(), of)).get('code') ?? '';
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: of.redirectUris[0] ?? '',
      ...(of.kind === 'public' && { code_verifier: VERIFIER }),
      ...form,
    });
    const headers = authorization === undefined ? undefined : { authorization };
    return app().fetch('/oauth/token', { method: 'POST', headers, body });
  }

  function encoded(text: string): string {
    return text.replaceAll('_', '%5F').replaceAll('-', '%2D');
  }

  it('O81 Basic with raw parts is accepted', async () => {
    expect((await exchangeWith(client, {}, `Basic ${base64(`${id}:${secret}`)}`)).status).toBe(200);
  });

  it('O81 Basic with form-encoded parts is accepted', async () => {
    const credentials = base64(`${encoded(id)}:${encoded(secret)}`);
    expect((await exchangeWith(client, {}, `Basic ${credentials}`)).status).toBe(200);
  });

  it.each(['basic', 'BASIC'])('O81 The scheme may be written %s', async (scheme) => {
    const credentials = base64(`${id}:${secret}`);
    expect((await exchangeWith(client, {}, `${scheme} ${credentials}`)).status).toBe(200);
  });

  it('O82 The credentials in the body are accepted', async () => {
    const answer = await exchangeWith(client, { client_id: id, client_secret: secret });
    expect(answer.status).toBe(200);
  });

  it('O83 Basic and a secret in the body together are an invalid_request', async () => {
    const basic = `Basic ${base64(`${id}:${secret}`)}`;
    const both = await exchangeWith(client, { client_id: id, client_secret: secret }, basic);
    await expectTokenError(both, 'invalid_request');
  });

  it('O83 Another client_id in the body than in Basic is an invalid_request', async () => {
    const basic = `Basic ${base64(`${id}:${secret}`)}`;
    const two = await exchangeWith(client, { client_id: native.clientId }, basic);
    await expectTokenError(two, 'invalid_request');
  });

  it('O83 The same client_id in both places is fine', async () => {
    const basic = `Basic ${base64(`${id}:${secret}`)}`;
    expect((await exchangeWith(client, { client_id: id }, basic)).status).toBe(200);
  });

  it('O84 A wrong secret in Basic is 401 with a challenge', async () => {
    const answer = await exchangeWith(client, {}, `Basic ${base64(`${id}:${secret}x`)}`);
    expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
    await expectTokenError(answer, 'invalid_client');
  });

  it('O85 A wrong secret in the body is 401 without a challenge', async () => {
    const answer = await exchangeWith(client, { client_id: id, client_secret: `${secret}x` });
    expect(answer.headers.get('www-authenticate')).toBeNull();
    await expectTokenError(answer, 'invalid_client');
  });

  /** All of an answer but what differs from one request to the next. */
  async function wholeOf(answer: Response): Promise<object> {
    const own = ['date', 'x-request-id'];
    const headers = [...answer.headers].filter(([name]) => !own.includes(name));
    return { status: answer.status, headers, body: await answer.text() };
  }

  it.each(['the form', 'Basic'])(
    'O86 An unknown app and a wrong secret get the same answer, byte for byte, in %s',
    async (place) => {
      const secretOf = async (client_id: string): Promise<object> =>
        wholeOf(
          place === 'Basic'
            ? await exchangeWith(client, {}, `Basic ${base64(`${client_id}:wrong`)}`)
            : await exchangeWith(client, { client_id, client_secret: 'wrong' }),
        );
      const wrong = await secretOf(id);
      expect(wrong).toMatchObject({ status: 401 });
      expect(await secretOf('svc_app_01jdx8m3wze5cr4w0hg3k7n2qp')).toEqual(wrong);
      expect(await secretOf('nobody')).toEqual(wrong);
    },
  );

  it.each([
    ['no credentials', 'Basic'],
    ['only spaces', 'Basic    '],
    ['what is not base64', 'Basic §§§'.replaceAll('§', '%')],
    ['base64 without a colon', `Basic ${base64('svc_app_x')}`],
    ['control characters', `Basic ${base64('\0\x01:\x7f')}`],
    ['bytes that are no UTF-8', `Basic ${Buffer.of(0xff, 0x3a, 0xfe).toString('base64')}`],
    ['a broken encoding', `Basic ${base64('svc%5:%zz')}`],
    ['an empty id', `Basic ${base64(':secret')}`],
    ['nothing but a colon', `Basic ${base64(':')}`],
    ['another scheme', 'Bearer svcat_x'],
    ['Digest', 'Digest username="x"'],
    ['8,000 characters', `Basic ${'A'.repeat(8000)}`],
  ])('O87 An Authorization header with %s is 401 with a challenge', async (_, header) => {
    const answer = await exchangeWith(client, {}, header);
    expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
    await expectTokenError(answer, 'invalid_client');
  });

  it('O88 A confidential app without its secret is 401, with a verifier too', async () => {
    const answer = await exchangeWith(client, { client_id: id, code_verifier: VERIFIER });
    expect(answer.headers.get('www-authenticate')).toBeNull();
    await expectTokenError(answer, 'invalid_client');
    const empty = await exchangeWith(client, { client_id: id, client_secret: '' });
    await expectTokenError(empty, 'invalid_client');
    await expectTokenError(
      await exchangeWith(client, {}, `Basic ${base64(`${id}:`)}`),
      'invalid_client',
    );
  });

  it('O108 Nobody at all is 401 at each endpoint, without a challenge, and is told what to send', async () => {
    const forms = ['', '&client_id=', `&client_secret=${secret}`];
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect'])
      for (const form of forms) {
        const body = new URLSearchParams(`token=x${form}`);
        const answer = await app().fetch(path, { method: 'POST', body });
        expect(answer.headers.get('www-authenticate')).toBeNull();
        expect(await answer.clone().text()).toContain('send client_id and client_secret');
        await expectTokenError(answer, 'invalid_client');
      }
  });

  it.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])(
    'O83 Two Authorization headers are an invalid_request at %s, even when one of them is right',
    async (path) => {
      const right = `Basic ${base64(`${id}:${secret}`)}`;
      for (const authorization of [
        [right, right],
        [right, 'Bearer x'],
      ]) {
        const body = 'grant_type=foo&token=x';
        const answer = await sendHeaders(path, authorization, body);
        expect(answer.status).toBe(400);
        expect(answer.body).toContain('"error":"invalid_request"');
        expect(answer.body).toContain('Send one Authorization header');
      }
    },
  );

  /** With `node:http`, since `fetch` joins headers of one name. */
  async function sendHeaders(
    path: string,
    authorization: string[],
    body: string,
  ): Promise<{ status: number | undefined; body: string }> {
    const sent = request(new URL(path, app().baseUrl), { method: 'POST' });
    sent.setHeader('authorization', authorization);
    sent.setHeader('content-type', 'application/x-www-form-urlencoded');
    const [answer] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: await textOf(answer) };
  }

  it('O88 A valid verifier does not stand in for the secret, and the code is good for it after', async () => {
    const challenge = { code_challenge: CODE_CHALLENGE, code_challenge_method: 'S256' };
    const user = await app().addUser();
    const code = (await approve(app(), user, client, challenge)).get('code') ?? '';
    const form = { code_verifier: VERIFIER };
    const unproven = await exchange(app(), client, code, { ...form, client_secret: undefined });
    await expectTokenError(unproven, 'invalid_client');
    expect((await exchange(app(), client, code, form)).status).toBe(200);
  });

  it('O89 A public app names itself, in the body or in Basic with an empty password', async () => {
    const { clientId } = native;
    expect((await exchangeWith(native, { client_id: clientId })).status).toBe(200);
    const basic = `Basic ${base64(`${clientId}:`)}`;
    expect((await exchangeWith(native, {}, basic)).status).toBe(200);
  });

  it('O89 A public app with a secret is 401', async () => {
    const { clientId } = native;
    const body = await exchangeWith(native, { client_id: clientId, client_secret: 'x' });
    await expectTokenError(body, 'invalid_client');
    const basic = await exchangeWith(native, {}, `Basic ${base64(`${clientId}:x`)}`);
    await expectTokenError(basic, 'invalid_client');
  });

  it('O71 A client that tries a wrong secret in Basic may try the right one in the body', async () => {
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const wrong = `Basic ${base64(`${id}:${secret}x`)}`;
    const grant = { grant_type: 'authorization_code', redirect_uri: client.redirectUris[0], code };
    const form = { ...grant, client_id: undefined, client_secret: undefined };
    const refused = await requestToken(app(), client, form, { authorization: wrong });
    await expectTokenError(refused, 'invalid_client');
    expect((await requestToken(app(), client, grant)).status).toBe(200);
  });

  it('A secret of another app opens nothing', async () => {
    const other = await app().addClient();
    const form = { client_id: id, client_secret: other.secret ?? '' };
    await expectTokenError(await exchangeWith(client, form), 'invalid_client');
  });
});

onOneEngine('A public app that sends an empty password', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_FAILURES: '3' });

  it('O89 spends no attempt by it, however often it comes', async () => {
    const native = await app().addClient({ kind: 'public' });
    const authorization = `Basic ${base64(`${native.clientId}:`)}`;
    for (let each = 0; each < 5; each += 1) {
      const form = {
        client_id: undefined,
        grant_type: 'authorization_code',
        code: (await approve(app(), await app().addUser(), native)).get('code') ?? '',
        redirect_uri: native.redirectUris[0],
        code_verifier: VERIFIER,
      };
      expect((await requestToken(app(), native, form, { authorization })).status).toBe(200);
    }
  });
});
