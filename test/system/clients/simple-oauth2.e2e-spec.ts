import { AuthorizationCode } from 'simple-oauth2';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged, statusOfMe } from './member.js';
import { connect } from './recipes/simple-oauth2.js';

const SCOPE = 'profile.read posts.read';

/** What the library throws when the service answered with an error: a Boom with the answer's body. */
const answered = (status: number, error: string): object => ({
  output: { statusCode: status },
  data: { payload: { error } },
});

onOneEngine('simple-oauth2', (database) => {
  const app = useTestApp(database);

  const settingsOf = ({ clientId, secret, redirectUris: [redirectUri = ''] }: TestClient) => ({
    issuer: app().baseUrl,
    clientId,
    clientSecret: secret,
    redirectUri,
  });

  describe.each(['confidential', 'public'] as const)('as a %s app', (kind) => {
    let client: TestClient;
    let partner: ReturnType<typeof connect>;

    beforeAll(async () => {
      client = await app().addClient({ kind, redirectUris: ['https://garden.example/callback'] });
      partner = connect(settingsOf(client));
    });

    async function tokens() {
      const kept = partner.begin(SCOPE);
      return partner.finish(await decide(app(), kept.link), kept);
    }

    it('O59 O81 gets from the link to an answer of the API', async () => {
      const { token } = await tokens();
      expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: SCOPE });
      expect(await statusOfMe(app(), String(token.access_token))).toBe(200);
    });

    it('O91 refreshes a token that was stored, and the next one', async () => {
      const first = await tokens();
      const second = await partner.restore(structuredClone(first.token)).refresh();
      const third = await second.refresh();
      expect(third.token.refresh_token).toMatch(/^svcrt_/);
      expect(third.token.refresh_token).not.toBe(second.token.refresh_token);
      expect(await statusOfMe(app(), String(third.token.access_token))).toBe(200);
    });

    it('O105 revokes its refresh token, after which nothing of the grant works', async () => {
      const token = await tokens();
      await token.revoke('refresh_token');
      expect(await statusOfMe(app(), String(token.token.access_token))).toBe(401);
      await expect(token.refresh()).rejects.toMatchObject(answered(400, 'invalid_grant'));
    });

    it('O107 revokes both tokens, one after the other, though the first could end the second', async () => {
      const token = await tokens();
      await expect(token.revokeAll()).resolves.toBeUndefined();
      await expect(token.revokeAll()).resolves.toBeUndefined();
      await expect(token.refresh()).rejects.toMatchObject(answered(400, 'invalid_grant'));
    });

    it('O15 O16 refuses an answer with another state or iss', async () => {
      const kept = partner.begin(SCOPE);
      const back = await decide(app(), kept.link);
      await expect(partner.finish(forged(back, 'state', 'x'), kept)).rejects.toThrow('request');
      const elsewhere = forged(back, 'iss', 'https://evil.example');
      await expect(partner.finish(elsewhere, kept)).rejects.toThrow('Another server');
      expect(await partner.finish(back, kept)).toHaveProperty('token');
    });

    it('O36 tells the app that the member denied', async () => {
      const kept = partner.begin(SCOPE);
      const back = await decide(app(), kept.link, { decision: 'deny' });
      await expect(partner.finish(back, kept)).rejects.toThrow('Refused: access_denied');
    });

    it('O77 refuses a code that was exchanged already', async () => {
      const kept = partner.begin(SCOPE);
      const back = await decide(app(), kept.link);
      const { token } = await partner.finish(back, kept);
      await expect(partner.finish(back, kept)).rejects.toMatchObject(
        answered(400, 'invalid_grant'),
      );
      expect(await statusOfMe(app(), String(token.access_token))).toBe(200);
    });

    it('O84 O89 refuses a secret that the app does not have', async () => {
      const wrong = connect({ ...settingsOf(client), clientSecret: 'svc_sec_wrong' });
      const kept = wrong.begin(SCOPE);
      const back = await decide(app(), kept.link);
      await expect(wrong.finish(back, kept)).rejects.toMatchObject(answered(401, 'invalid_client'));
      expect(await partner.finish(back, kept)).toHaveProperty('token');
    });
  });

  describe('without PKCE, as its own documentation shows it', () => {
    const redirect_uri = 'https://garden.example/callback';
    const state = 'xyzABC123';

    const ways = [
      { authorizationMethod: 'header', credentialsEncodingMode: 'strict' },
      { authorizationMethod: 'header', credentialsEncodingMode: 'loose' },
      { authorizationMethod: 'body' },
    ] as const;

    it.each(ways)('O81 O82 exchanges, refreshes and revokes with %o', async (options) => {
      const { clientId: id, secret = '' } = await app().addClient({ redirectUris: [redirect_uri] });
      const auth = { tokenHost: app().baseUrl };
      const partner = new AuthorizationCode({ client: { id, secret }, auth, options });
      const link = partner.authorizeURL({ redirect_uri, scope: SCOPE.split(' '), state });
      const back = await decide(app(), link);
      expect(back.searchParams.get('state')).toBe(state);
      const code = back.searchParams.get('code') ?? '';
      const token = await partner.getToken({ code, redirect_uri });
      const narrower = await token.refresh({ scope: ['posts.read'] });
      expect(narrower.token.scope).toBe('posts.read');
      expect(await statusOfMe(app(), String(narrower.token.access_token))).toBe(403);
      await narrower.revokeAll();
      await expect(narrower.refresh()).rejects.toMatchObject(answered(400, 'invalid_grant'));

      const wrong = new AuthorizationCode({ client: { id, secret: 'x' }, auth, options });
      await expect(wrong.getToken({ code, redirect_uri })).rejects.toMatchObject(
        answered(401, 'invalid_client'),
      );
    });
  });
});
