import * as oauth from 'oauth4webapi';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged, statusOfMe } from './member.js';
import { connect } from './recipes/oauth4webapi.js';

const SCOPE = 'profile.read posts.write';

const kinds = [
  { how: 'a confidential app with client_secret_basic', proofBy: oauth.ClientSecretBasic },
  { how: 'a confidential app with client_secret_post', proofBy: oauth.ClientSecretPost },
  { how: 'a public app with PKCE alone', proofBy: undefined },
];

onOneEngine('oauth4webapi', (database) => {
  const app = useTestApp(database);

  const settingsOf = ({ clientId, secret, redirectUris: [redirectUri = ''] }: TestClient) => ({
    issuer: app().baseUrl,
    clientId,
    clientSecret: secret,
    redirectUri,
  });

  describe.each(kinds)('as $how', ({ proofBy }) => {
    let client: TestClient;
    let partner: Awaited<ReturnType<typeof connect>>;

    beforeAll(async () => {
      client = await app().addClient({
        kind: proofBy === undefined ? 'public' : 'confidential',
        redirectUris: ['http://127.0.0.1/callback'],
      });
      partner = await connect(settingsOf(client), proofBy);
    });

    async function tokens() {
      const kept = await partner.begin(SCOPE);
      return partner.finish(await decide(app(), kept.link), kept);
    }

    it('O120 O59 gets from the metadata to an answer of the API', async () => {
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

    it('O105 revokes its refresh token, after which nothing of the grant works', async () => {
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

    it('O15 O16 O120 refuses an answer with another state, another iss, or none', async () => {
      const kept = await partner.begin(SCOPE);
      const back = await decide(app(), kept.link);
      const withoutIss = new URL(back);
      withoutIss.searchParams.delete('iss');
      const refused = { code: oauth.INVALID_RESPONSE };
      await expect(partner.finish(forged(back, 'state', 'x'), kept)).rejects.toMatchObject(refused);
      await expect(
        partner.finish(forged(back, 'iss', 'https://evil.example'), kept),
      ).rejects.toMatchObject(refused);
      await expect(partner.finish(withoutIss, kept)).rejects.toMatchObject(refused);
      expect(await partner.finish(back, kept)).toHaveProperty('access_token');
    });

    it('O36 tells the app that the member denied', async () => {
      const kept = await partner.begin(SCOPE);
      const back = await decide(app(), kept.link, { decision: 'deny' });
      await expect(partner.finish(back, kept)).rejects.toMatchObject({
        code: oauth.AUTHORIZATION_RESPONSE_ERROR,
        error: 'access_denied',
      });
    });

    it('O12 tells the app that it asked for a scope that nobody knows', async () => {
      const { link } = await partner.begin('profile.write');
      const answer = await app().fetch(link);
      const back = new URL(answer.headers.get('location') ?? '');
      const kept = { state: new URL(link).searchParams.get('state') ?? '', verifier: 'x' };
      await expect(partner.finish(back, kept)).rejects.toMatchObject({ error: 'invalid_scope' });
    });

    it('O77 refuses a code that was exchanged already', async () => {
      const kept = await partner.begin(SCOPE);
      const back = await decide(app(), kept.link);
      const first = await partner.finish(back, kept);
      await expect(partner.finish(back, kept)).rejects.toMatchObject({
        code: oauth.RESPONSE_BODY_ERROR,
        error: 'invalid_grant',
        status: 400,
      });
      expect(await statusOfMe(app(), first.access_token)).toBe(200);
    });

    it('O75 refuses the verifier of another request', async () => {
      const kept = await partner.begin(SCOPE);
      const back = await decide(app(), kept.link);
      const { verifier } = await partner.begin(SCOPE);
      await expect(partner.finish(back, { ...kept, verifier })).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    it('O84 O85 O89 refuses a secret that the app does not have', async () => {
      const wrong = await connect(
        { ...settingsOf(client), clientSecret: 'svc_sec_wrong' },
        proofBy ?? oauth.ClientSecretPost,
      );
      const kept = await wrong.begin(SCOPE);
      const back = await decide(app(), kept.link);
      const told =
        proofBy === oauth.ClientSecretBasic
          ? { code: oauth.WWW_AUTHENTICATE_CHALLENGE, status: 401 }
          : { code: oauth.RESPONSE_BODY_ERROR, status: 401, error: 'invalid_client' };
      await expect(wrong.finish(back, kept)).rejects.toMatchObject(told);
      await expect(wrong.revoke('svcrt_anything')).rejects.toMatchObject(told);
      expect(await partner.finish(back, kept)).toHaveProperty('access_token');
    });
  });

  describe('about its own tokens', () => {
    const options = { [oauth.allowInsecureRequests]: true };

    async function discovered(): Promise<oauth.AuthorizationServer> {
      const issuer = new URL(app().baseUrl);
      return oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
      );
    }

    it('O120 finds every endpoint that it knows how to use', async () => {
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

    it('O111 learns from introspection that a token is active, and after its revocation that it is not', async () => {
      const registered = await app().addClient();
      const partner = await connect(settingsOf(registered));
      const user = await app().addUser();
      const kept = await partner.begin(SCOPE);
      const back = await decide(app(), kept.link, { user });
      const { access_token } = await partner.finish(back, kept);
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
