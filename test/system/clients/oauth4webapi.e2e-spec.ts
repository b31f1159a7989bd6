import * as oauth from 'oauth4webapi';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged } from './decide.js';
import { statusOfMe } from './me.js';
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

  const settingsOf = ({ clientId, secret, redirectUris: [redirectUri = ''] }: TestClient) => ({
    issuer: app().baseUrl,
    clientId,
    clientSecret: secret,
    redirectUri,
  });

  describe.each(appKinds)('as $how', ({ clientAuth }) => {
    let client: TestClient;
    let partner: Awaited<ReturnType<typeof connect>>;

    beforeAll(async () => {
      client = await app().addClient({
        kind: clientAuth === undefined ? 'public' : 'confidential',
        redirectUris: ['http://127.0.0.1/callback'],
      });
      partner = await connect(settingsOf(client), clientAuth);
    });

    async function tokens() {
      const stored = await partner.begin(SCOPE);
      return partner.finish(await decide(app(), stored.link), stored);
    }

    it('O120 O59 completes the flow from the metadata to an API call', async () => {
      const { access_token, refresh_token, token_type, expires_in, scope } = await tokens();
      expect({ token_type, expires_in, scope }).toEqual({
        token_type: 'bearer',
        expires_in: 3600,
        scope: SCOPE,
      });
      expect(refresh_token).toMatch(/^svcrt_/);
      const url = new URL('/dev/v1/me', app().baseUrl);
      const options = { [oauth.allowInsecureRequests]: true };
      const me = await oauth.protectedResourceRequest(
        access_token,
        'GET',
        url,
        undefined,
        null,
        options,
      );
      expect(await me.json()).toMatchObject({ name: 'Ana Lee' });
    });

    it('O91 refreshes twice, each time with the newest refresh token', async () => {
      const first = await tokens();
      const second = await partner.refresh(first.refresh_token ?? '');
      const third = await partner.refresh(second.refresh_token ?? '');
      expect(new Set([first, second, third].map((pair) => pair.refresh_token)).size).toBe(3);
      expect(third.scope).toBe(SCOPE);
      expect(await statusOfMe(app(), third.access_token)).toBe(200);
    });

    it('O105 revokes the grant with its refresh token', async () => {
      const { access_token, refresh_token = '' } = await tokens();
      await partner.revoke(refresh_token);
      expect(await statusOfMe(app(), access_token)).toBe(401);
      await expect(partner.refresh(refresh_token)).rejects.toMatchObject({
        error: 'invalid_grant',
        status: 400,
      });
      await expect(partner.revoke(refresh_token)).resolves.toBeUndefined();
    });

    it('O106 revokes an access token and keeps the refresh token', async () => {
      const { access_token, refresh_token = '' } = await tokens();
      await partner.revoke(access_token);
      expect(await statusOfMe(app(), access_token)).toBe(401);
      expect(await partner.refresh(refresh_token)).toHaveProperty('access_token');
    });

    it('O15 O16 O120 rejects a redirect with another state, another iss or no iss', async () => {
      const stored = await partner.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link);
      const withoutIss = new URL(callbackUrl);
      withoutIss.searchParams.delete('iss');
      const rejected = { code: oauth.INVALID_RESPONSE };
      await expect(partner.finish(forged(callbackUrl, 'state', 'x'), stored)).rejects.toMatchObject(
        rejected,
      );
      await expect(
        partner.finish(forged(callbackUrl, 'iss', 'https://evil.example'), stored),
      ).rejects.toMatchObject(rejected);
      await expect(partner.finish(withoutIss, stored)).rejects.toMatchObject(rejected);
      expect(await partner.finish(callbackUrl, stored)).toHaveProperty('access_token');
    });

    it('O36 reports access_denied', async () => {
      const stored = await partner.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link, { decision: 'deny' });
      await expect(partner.finish(callbackUrl, stored)).rejects.toMatchObject({
        code: oauth.AUTHORIZATION_RESPONSE_ERROR,
        error: 'access_denied',
      });
    });

    it('O12 reports invalid_scope for an unknown scope', async () => {
      const { link } = await partner.begin('profile.write');
      const response = await app().fetch(link);
      const callbackUrl = returnUrl(await response.text());
      const stored = { state: new URL(link).searchParams.get('state') ?? '', verifier: 'x' };
      await expect(partner.finish(callbackUrl, stored)).rejects.toMatchObject({
        error: 'invalid_scope',
      });
    });

    it('O77 rejects a second exchange of a code, and within 10 seconds keeps the tokens of the first', async () => {
      const stored = await partner.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link);
      const first = await partner.finish(callbackUrl, stored);
      await expect(partner.finish(callbackUrl, stored)).rejects.toMatchObject({
        code: oauth.RESPONSE_BODY_ERROR,
        error: 'invalid_grant',
        status: 400,
      });
      expect(await statusOfMe(app(), first.access_token)).toBe(200);
    });

    it('O75 rejects the verifier of another authorization request', async () => {
      const stored = await partner.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link);
      const { verifier } = await partner.begin(SCOPE);
      await expect(partner.finish(callbackUrl, { ...stored, verifier })).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    it('O84 O85 O89 rejects a wrong secret', async () => {
      const wrong = await connect(
        { ...settingsOf(client), clientSecret: 'svc_sec_wrong' },
        clientAuth ?? oauth.ClientSecretPost,
      );
      const stored = await wrong.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link);
      const expected =
        clientAuth === oauth.ClientSecretBasic
          ? { code: oauth.WWW_AUTHENTICATE_CHALLENGE, status: 401 }
          : { code: oauth.RESPONSE_BODY_ERROR, status: 401, error: 'invalid_client' };
      await expect(wrong.finish(callbackUrl, stored)).rejects.toMatchObject(expected);
      await expect(wrong.revoke('svcrt_anything')).rejects.toMatchObject(expected);
      expect(await partner.finish(callbackUrl, stored)).toHaveProperty('access_token');
    });
  });

  describe('metadata and introspection', () => {
    const options = { [oauth.allowInsecureRequests]: true };

    async function discovered(): Promise<oauth.AuthorizationServer> {
      const issuer = new URL(app().baseUrl);
      return oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
      );
    }

    it('O120 discovers every endpoint', async () => {
      const server = await discovered();
      expect(server).toMatchObject({
        issuer: app().baseUrl,
        authorization_endpoint: `${app().baseUrl}/oauth/authorize`,
        token_endpoint: `${app().baseUrl}/oauth/token`,
        revocation_endpoint: `${app().baseUrl}/oauth/revoke`,
        introspection_endpoint: `${app().baseUrl}/oauth/introspect`,
        authorization_response_iss_parameter_supported: true,
      });
    });

    it('O111 introspects an active and a revoked token', async () => {
      const registered = await app().addClient();
      const partner = await connect(settingsOf(registered));
      const user = await app().addUser();
      const stored = await partner.begin(SCOPE);
      const callbackUrl = await decide(app(), stored.link, { user });
      const { access_token } = await partner.finish(callbackUrl, stored);
      const server = await discovered();
      const client = { client_id: registered.clientId };
      const introspected = async () =>
        oauth.processIntrospectionResponse(
          server,
          client,
          await oauth.introspectionRequest(
            server,
            client,
            oauth.ClientSecretBasic(registered.secret ?? ''),
            access_token,
            options,
          ),
        );
      expect(await introspected()).toMatchObject({
        active: true,
        scope: SCOPE,
        client_id: registered.clientId,
        sub: user.id,
        iss: app().baseUrl,
        token_type: 'Bearer',
      });
      await partner.revoke(access_token);
      expect(await introspected()).toEqual({ active: false });
    });
  });
});
