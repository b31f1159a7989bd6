import { onEachEngine } from '../../support/engines.js';
import { expectTokenError } from '../../support/oauth-answers.js';
import { useTestApp, type TestClient } from '../../support/test-app.js';
import { approve, VERIFIER } from '../../support/visitor.js';

const CHALLENGE = 'Basic realm="oauth", charset="UTF-8"';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

onEachEngine('Client authentication at the token endpoint', (database) => {
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

  it('O86 An unknown app and a wrong secret get the same answer', async () => {
    const wrong = await exchangeWith(client, { client_id: id, client_secret: 'wrong' });
    const unknown = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';
    const nobody = await exchangeWith(client, { client_id: unknown, client_secret: 'wrong' });
    expect(nobody.status).toBe(wrong.status);
    expect(await nobody.text()).toBe(await wrong.text());
    const names = (answer: Response): string[] => [...answer.headers.keys()];
    expect(names(nobody)).toEqual(names(wrong));
  });

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

  it('Nobody at all is an invalid_request', async () => {
    await expectTokenError(await exchangeWith(client, {}), 'invalid_request');
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

  it('A secret of another app opens nothing', async () => {
    const other = await app().addClient();
    const form = { client_id: id, client_secret: other.secret ?? '' };
    await expectTokenError(await exchangeWith(client, form), 'invalid_client');
  });
});
