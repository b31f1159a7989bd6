import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenHeaders, json, corsHeaders } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://spa.example';

onOneEngine('OAuth endpoints: methods', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient({ kind: 'public', redirectUris: [`${ORIGIN}/callback`] });
  });

  async function expectNotAllowed(method: string, path: string, allow: string): Promise<void> {
    const response = await app().fetch(path, { method, headers: { origin: ORIGIN } });
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
      status: 405,
      allow,
    });
    expectTokenHeaders(response);
    expect(await json(response)).toEqual({
      error: 'invalid_request',
      error_description: `This endpoint does not support this method. It supports ${allow}.`,
    });
  }

  it.each(['POST', 'PUT', 'DELETE'])(
    'O19 rejects %s of the authorization endpoint with 405 and Allow',
    async (method) => {
      await expectNotAllowed(method, '/oauth/authorize', 'GET, HEAD, OPTIONS');
    },
  );

  it('O19 sends no CORS headers for any method of the authorization endpoint', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const path = method === 'POST' ? '/oauth/authorize' : authorizeLink(client);
      const response = await app().fetch(path, { method, headers: { origin: ORIGIN } });
      expect({ method, headers: corsHeaders(response) }).toEqual({ method, headers: [] });
    }
  });

  it('O19 lists the methods of the authorization endpoint for OPTIONS', async () => {
    const response = await app().fetch('/oauth/authorize', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
    'O61 C5 rejects %s of the token endpoint with 405',
    (method) => expectNotAllowed(method, '/oauth/token', 'OPTIONS, POST'),
  );

  it.each(['/oauth/revoke', '/oauth/introspect'])('O108 C5 rejects GET of %s with 405', (path) =>
    expectNotAllowed('GET', path, 'OPTIONS, POST'),
  );

  it.each(['/oauth/nothing', '/oauth/token/', '/oauth/Token', '/oauth/token/more'])(
    'responds with 404 and the error body of RFC 6749 to the unknown path %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const response = await app().fetch(path, { method });
        expect(response.status).toBe(404);
        expect(await json(response)).toEqual({
          error: 'invalid_request',
          error_description: 'There is no such endpoint. The documentation lists them all.',
        });
      }
    },
  );
});
