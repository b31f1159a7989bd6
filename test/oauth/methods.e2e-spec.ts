import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenHeaders, json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://spa.example';

onOneEngine('Methods of the OAuth endpoints', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient({ kind: 'public', redirectUris: [`${ORIGIN}/callback`] });
  });

  async function expectNotAllowed(method: string, path: string, allow: string): Promise<void> {
    const answer = await app().fetch(path, { method, headers: { origin: ORIGIN } });
    expect({ status: answer.status, allow: answer.headers.get('allow') }).toEqual({
      status: 405,
      allow,
    });
    expectTokenHeaders(answer);
    expect(await json(answer)).toEqual({
      error: 'invalid_request',
      error_description: `This endpoint does not take this method. It takes ${allow}.`,
    });
  }

  it.each(['POST', 'PUT', 'DELETE'])(
    'O19 %s is not a way to ask for authorization, and the answer says which are',
    async (method) => {
      await expectNotAllowed(method, '/oauth/authorize', 'GET, HEAD, OPTIONS');
    },
  );

  it('O19 No other origin is let in, whatever the method', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const path = method === 'POST' ? '/oauth/authorize' : authorizeLink(client);
      const { headers } = await app().fetch(path, { method, headers: { origin: ORIGIN } });
      const shared = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect({ method, shared }).toEqual({ method, shared: [] });
    }
  });

  it('O19 OPTIONS tells what the authorization endpoint takes', async () => {
    const answer = await app().fetch('/oauth/authorize', { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('O61 C5 %s of the token endpoint is 405', (method) =>
    expectNotAllowed(method, '/oauth/token', 'OPTIONS, POST'),
  );

  it.each(['/oauth/revoke', '/oauth/introspect'])('O108 C5 GET of %s is 405', (path) =>
    expectNotAllowed('GET', path, 'OPTIONS, POST'),
  );

  it.each(['/oauth/nothing', '/oauth/token/', '/oauth/Token', '/oauth/token/more'])(
    '%s is no endpoint',
    async (path) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await app().fetch(path, { method });
        expect(answer.status).toBe(404);
        expect(await json(answer)).toMatchObject({ error: 'invalid_request' });
      }
    },
  );
});
