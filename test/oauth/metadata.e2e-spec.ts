import { LANGUAGES } from '../../src/pages/language.js';
import { SCOPES } from '../../src/platform/access/scopes.js';
import { Browser } from '../support/browser.js';
import { authorizeLink, exchange, redirectParameters, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { getRaw } from '../support/raw-request.js';
import { expectErrorRedirect, type ErrorBody, json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { DECISION } from '../support/sign-in.js';

const PATH = '/.well-known/oauth-authorization-server';
const RESOURCE_PATH = '/.well-known/oauth-protected-resource/dev/v1';

onOneEngine('Authorization server metadata (RFC 8414)', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1' });
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  it('O120 lists the issuer, the endpoints and the supported values', async () => {
    const issuer = app().config.publicUrl;
    const response = await app().fetch(PATH);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(await json(response)).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: [
        'profile.read',
        'posts.read',
        'posts.write',
        'analytics.read',
        'offline_access',
      ],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      ui_locales_supported: LANGUAGES,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    });
  });

  it('O120 ignores the headers Host, Forwarded and X-Forwarded-*, even of a trusted proxy', async () => {
    const metadata = await json(await app().fetch(PATH));
    const names = ['Host', 'Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto'];
    const headers = names.flatMap((name) => [name, 'evil.example']);
    const withOtherHost = await getRaw(`${app().baseUrl}${PATH}`, headers);
    expect(withOtherHost.status).toBe(200);
    expect(await json(withOtherHost)).toEqual(metadata);
    expect(metadata).toMatchObject({ issuer: app().config.publicUrl });
  });

  it('O122 is readable by every origin and publicly cacheable for an hour', async () => {
    for (const path of [PATH, RESOURCE_PATH]) {
      const { headers } = await app().fetch(path, { headers: { origin: 'https://any.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('public, max-age=3600');
    }
  });

  it('O121 lists only endpoints that exist', async () => {
    const metadata = await json(await app().fetch(PATH));
    for (const [name, url] of Object.entries(metadata)) {
      if (!name.endsWith('_endpoint') && name !== 'service_documentation') continue;
      const { status } = await app().fetch(String(url), { method: 'GET' });
      expect({ name, exists: status !== 404 }).toEqual({ name, exists: true });
    }
  });

  it('O121 lists exactly the authentication methods that work at each endpoint', async () => {
    const metadata = await json<Record<string, string[]>>(await app().fetch(PATH));
    const publicClient = await app().addClient({ kind: 'public' });
    const basic = {
      authorization: `Basic ${Buffer.from(`${client.clientId}:${client.secret}`).toString('base64')}`,
    };
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      const methods = metadata[`${endpoint}_endpoint_auth_methods_supported`];
      const url = String(metadata[`${endpoint}_endpoint`]);
      const form = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' };
      const statuses = {
        client_secret_basic: (await sendForm(app(), url, undefined, form, basic)).status,
        client_secret_post: (await sendForm(app(), url, client, form)).status,
        none: (await sendForm(app(), url, publicClient, form)).status,
      };
      const working = Object.entries(statuses).flatMap(([name, status]) =>
        status === 401 ? [] : [name],
      );
      expect({ endpoint, working }).toEqual({ endpoint, working: methods });
    }
  });

  it('O121 lists only scopes and prompts that work', async () => {
    const metadata = await json<Record<string, string[]>>(await app().fetch(PATH));
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    for (const scope of metadata['scopes_supported'] ?? []) {
      // Accepted, but never granted.
      if (scope === 'offline_access') continue;
      const consent = await visitor.open(authorizeLink(client, { scope }));
      const fields = { scope, decision: 'approve' };
      const done = await visitor.submit(consent, DECISION, fields);
      const response = await exchange(app(), client, redirectParameters(done).get('code') ?? '');
      expect(await json(response)).toMatchObject({ scope });
    }
    for (const prompt of metadata['prompt_values_supported'] ?? []) {
      const page = await visitor.open(authorizeLink(client, { prompt }));
      if (prompt === 'none') expectErrorRedirect(page, client, 'interaction_required');
      else expect(page.status).toBe(200);
    }
  });

  it.each([
    '/oauth/register',
    '/oauth/device_authorization',
    '/oauth/par',
    '/oauth/userinfo',
    '/.well-known/jwks.json',
    '/.well-known/openid-configuration',
  ])('O121 does not serve the unlisted endpoint %s', async (path) => {
    for (const method of ['GET', 'POST'])
      expect((await app().fetch(path, { method })).status).toBe(404);
  });
});

onOneEngine('Protected resource metadata (RFC 9728)', (database) => {
  const app = useTestApp(database);

  it('lists the API, its authorization server and its scopes', async () => {
    const issuer = app().config.publicUrl;
    const response = await app().fetch(RESOURCE_PATH);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(await json(response)).toEqual({
      resource: `${issuer}/dev/v1`,
      authorization_servers: [issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Developer API',
      resource_documentation: `${issuer}/docs`,
    });
  });

  it('is at the URL in the challenge of the API, and leads to the token endpoint', async () => {
    const denied = await app().fetch('/dev/v1/me');
    const [, url = ''] =
      /resource_metadata="([^"]+)"/.exec(denied.headers.get('www-authenticate') ?? '') ?? [];
    const resource = await json<{ resource: string; authorization_servers: string[] }>(
      await app().fetch(url),
    );
    expect(denied.url.startsWith(resource.resource)).toBe(true);
    const [issuer = ''] = resource.authorization_servers;
    const server = await json<{ issuer: string }>(await app().fetch(`${issuer}${PATH}`));
    expect(server.issuer).toBe(issuer);
  });

  it('is readable by every origin, also for clients that send headers of their own', async () => {
    const origin = 'https://any.example';
    for (const path of [PATH, RESOURCE_PATH, '/.well-known/nothing']) {
      const preflight = await app().fetch(path, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'mcp-protocol-version',
        },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-protocol-version');
    }
  });

  it.each([
    '',
    'openid-configuration',
    'oauth-protected-resource',
    'oauth-authorization-server/dev/v1',
    'jwks.json',
  ])('is named by the 404 of /.well-known/%s, which every origin can read', async (name) => {
    const response = await app().fetch(`/.well-known/${name}`, {
      headers: { origin: 'https://any.example' },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const { error, error_description } = await json<ErrorBody>(response);
    expect(error).toBe('not_found');
    for (const path of [PATH, RESOURCE_PATH]) expect(error_description).toContain(path);
    for (const [path] of error_description.matchAll(/\/\.well-known\/[^ ]+\w/g))
      expect((await app().fetch(path)).status).toBe(200);
  });
});
