import * as oauth from 'oauth4webapi';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged, settingsOf, statusOfMe } from './decide.js';
import { connect } from './recipes/oauth4webapi.js';
import { returnUrl } from '../../support/responses.js';

const SCOPE = 'profile.read posts.write';

const appKinds = [
  { how: 'a confidential app with client_secret_basic', clientAuth: oauth.ClientSecretBasic },
  { how: 'a confidential app with client_secret_post', clientAuth: oauth.ClientSecretPost },
  { how: 'a public app with PKCE alone', clientAuth: undefined },
];

onOneEngine('oauth4webapi', (database) => {
  const app = useTestApp(database);

  const options = { [oauth.allowInsecureRequests]: true };

  describe.each(appKinds)('as $how', ({ clientAuth }) => {
    let client: TestClient;
    let partner: Awaited<ReturnType<typeof connect>>;

    beforeAll(async () => {
      client = await app().addClient({
        kind: clientAuth === undefined ? 'public' : 'confidential',
        redirectUris: ['http://127.0.0.1/callback'],
      });
      partner = await connect(settingsOf(app(), client), clientAuth);
    });

    /** Lets a user allow access. Returns the redirect, and what the partner stored. */
    async function authorize() {
      const stored = await partner.begin(SCOPE);
      return { callbackUrl: await decide(app(), stored.link), stored };
    }

    async function tokens() {
      const { callbackUrl, stored } = await authorize();
      return partner.finish(callbackUrl, stored);
    }

    it('O120 O59 O91 completes the flow from the metadata to an API call, and refreshes twice', async () => {
      const first = await tokens();
      const { token_type, expires_in, scope } = first;
      expect({ token_type, expires_in, scope }).toEqual({
        token_type: 'bearer',
        expires_in: 3600,
        scope: SCOPE,
      });
      const url = new URL('/dev/v1/me', app().baseUrl);
      const me = await oauth.protectedResourceRequest(
        first.access_token,
        'GET',
        url,
        undefined,
        null,
        options,
      );
      expect(await me.json()).toMatchObject({ name: 'Ana Lee' });
      const second = await partner.refresh(first.refresh_token ?? '');
      const third = await partner.refresh(second.refresh_token ?? '');
      expect(new Set([first, second, third].map((pair) => pair.refresh_token)).size).toBe(3);
      expect(third.scope).toBe(SCOPE);
      expect(await statusOfMe(app(), third.access_token)).toBe(200);
    });

    it('O105 O106 revokes an access token, and the grant with its refresh token', async () => {
      const first = await tokens();
      await partner.revoke(first.access_token);
      expect(await statusOfMe(app(), first.access_token)).toBe(401);
      const { access_token, refresh_token = '' } = await partner.refresh(first.refresh_token ?? '');
      await partner.revoke(refresh_token);
      expect(await statusOfMe(app(), access_token)).toBe(401);
      await expect(partner.refresh(refresh_token)).rejects.toMatchObject({
        error: 'invalid_grant',
        status: 400,
      });
      await expect(partner.revoke(refresh_token)).resolves.toBeUndefined();
    });

    it('O15 O16 O120 rejects a redirect with another state, another iss or no iss', async () => {
      const { callbackUrl, stored } = await authorize();
      const withoutIss = new URL(callbackUrl);
      withoutIss.searchParams.delete('iss');
      for (const url of [
        forged(callbackUrl, 'state', 'x'),
        forged(callbackUrl, 'iss', 'https://evil.example'),
        withoutIss,
      ])
        await expect(partner.finish(url, stored)).rejects.toMatchObject({
          code: oauth.INVALID_RESPONSE,
        });
      expect(await partner.finish(callbackUrl, stored)).toHaveProperty('access_token');
    });

    it('O12 O36 reports access_denied, and invalid_scope for an unknown scope', async () => {
      const stored = await partner.begin(SCOPE);
      const denied = await decide(app(), stored.link, { decision: 'deny' });
      const code = oauth.AUTHORIZATION_RESPONSE_ERROR;
      await expect(partner.finish(denied, stored)).rejects.toMatchObject({
        code,
        error: 'access_denied',
      });
      const unknown = await partner.begin('profile.write');
      const rejected = returnUrl(await (await app().fetch(unknown.link)).text());
      await expect(partner.finish(rejected, unknown)).rejects.toMatchObject({
        code,
        error: 'invalid_scope',
      });
    });

    it('O75 O77 rejects a second exchange of a code, whose tokens it keeps within 10 seconds, and the verifier of another request', async () => {
      const rejected = { code: oauth.RESPONSE_BODY_ERROR, error: 'invalid_grant', status: 400 };
      const { callbackUrl, stored } = await authorize();
      const first = await partner.finish(callbackUrl, stored);
      await expect(partner.finish(callbackUrl, stored)).rejects.toMatchObject(rejected);
      expect(await statusOfMe(app(), first.access_token)).toBe(200);
      const next = await authorize();
      const { verifier } = stored;
      await expect(
        partner.finish(next.callbackUrl, { ...next.stored, verifier }),
      ).rejects.toMatchObject(rejected);
    });

    it('O84 O85 O89 rejects a wrong secret', async () => {
      const wrong = await connect(
        { ...settingsOf(app(), client), clientSecret: 'svc_sec_wrong' },
        clientAuth ?? oauth.ClientSecretPost,
      );
      const { callbackUrl, stored } = await authorize();
      const expected =
        clientAuth === oauth.ClientSecretBasic
          ? { code: oauth.WWW_AUTHENTICATE_CHALLENGE, status: 401 }
          : { code: oauth.RESPONSE_BODY_ERROR, status: 401, error: 'invalid_client' };
      await expect(wrong.finish(callbackUrl, stored)).rejects.toMatchObject(expected);
      await expect(wrong.revoke('svcrt_anything')).rejects.toMatchObject(expected);
      expect(await partner.finish(callbackUrl, stored)).toHaveProperty('access_token');
    });
  });

  it('O111 O120 discovers every endpoint, and introspects an active and a revoked token', async () => {
    const { baseUrl } = app();
    const issuer = new URL(baseUrl);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
    );
    expect(server).toMatchObject({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/oauth/token`,
      revocation_endpoint: `${baseUrl}/oauth/revoke`,
      introspection_endpoint: `${baseUrl}/oauth/introspect`,
      authorization_response_iss_parameter_supported: true,
    });
    const registered = await app().addClient();
    const partner = await connect(settingsOf(app(), registered));
    const user = await app().addUser();
    const stored = await partner.begin(SCOPE);
    const callbackUrl = await decide(app(), stored.link, { user });
    const { access_token } = await partner.finish(callbackUrl, stored);
    const client = { client_id: registered.clientId };
    const secret = oauth.ClientSecretBasic(registered.secret ?? '');
    const introspected = async () =>
      oauth.processIntrospectionResponse(
        server,
        client,
        await oauth.introspectionRequest(server, client, secret, access_token, options),
      );
    expect(await introspected()).toMatchObject({
      active: true,
      scope: SCOPE,
      client_id: registered.clientId,
      sub: user.id,
      iss: baseUrl,
      token_type: 'Bearer',
    });
    await partner.revoke(access_token);
    expect(await introspected()).toEqual({ active: false });
  });
});
