import { AuthorizationCode } from 'simple-oauth2';
import { onOneEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged, settingsOf, statusOfMe } from './decide.js';
import { connect } from './recipes/simple-oauth2.js';

const SCOPE = 'profile.read posts.read';

/** What the library throws for an error response: an error of `@hapi/boom` with the body of the response. */
const errorResponse = (status: number, error: string): object => ({
  output: { statusCode: status },
  data: { payload: { error } },
});

onOneEngine('simple-oauth2', (database) => {
  const app = useTestApp(database);

  describe.each(['confidential', 'public'] as const)('as a %s app', (kind) => {
    let client: TestClient;
    let partner: ReturnType<typeof connect>;

    beforeAll(async () => {
      client = await app().addClient({ kind, redirectUris: ['https://garden.example/callback'] });
      partner = connect(settingsOf(app(), client));
    });

    /** Lets a user decide. Returns the redirect, and what the partner stored. */
    async function authorize(decision?: 'deny') {
      const stored = partner.begin(SCOPE);
      return { callbackUrl: await decide(app(), stored.link, { decision }), stored };
    }

    it('O59 O81 O91 completes the flow from the link to an API call, and refreshes a stored token and the next one', async () => {
      const { callbackUrl, stored } = await authorize();
      const first = await partner.finish(callbackUrl, stored);
      expect(first.token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: SCOPE });
      expect(await statusOfMe(app(), first.token.access_token)).toBe(200);
      const second = await partner.restore(structuredClone(first.token)).refresh();
      const third = await second.refresh();
      expect(third.token.refresh_token).not.toBe(second.token.refresh_token);
      expect(await statusOfMe(app(), third.token.access_token)).toBe(200);
    });

    it('O105 O107 revokes the grant with its refresh token, and both tokens even if they are already revoked', async () => {
      const { callbackUrl, stored } = await authorize();
      const token = await partner.finish(callbackUrl, stored);
      await token.revoke('refresh_token');
      expect(await statusOfMe(app(), token.token.access_token)).toBe(401);
      await expect(token.revokeAll()).resolves.toBeUndefined();
      await expect(token.refresh()).rejects.toMatchObject(errorResponse(400, 'invalid_grant'));
    });

    it('O15 O16 rejects a redirect with another state or iss, or without a state if the session has none', async () => {
      const { callbackUrl, stored } = await authorize();
      await expect(partner.finish(forged(callbackUrl, 'state', 'x'), stored)).rejects.toThrow(
        'state differs',
      );
      const withOtherIss = forged(callbackUrl, 'iss', 'https://evil.example');
      await expect(partner.finish(withOtherIss, stored)).rejects.toThrow('iss differs');
      const withoutState = new URL(callbackUrl);
      withoutState.searchParams.delete('state');
      const empty = { verifier: stored.verifier } as typeof stored;
      await expect(partner.finish(withoutState, empty)).rejects.toThrow('state differs');
      expect(await partner.finish(callbackUrl, stored)).toHaveProperty('token');
    });

    it('O36 reports access_denied', async () => {
      const { callbackUrl, stored } = await authorize('deny');
      await expect(partner.finish(callbackUrl, stored)).rejects.toThrow(
        'Authorization failed: access_denied',
      );
    });

    it('O77 O84 O89 rejects a wrong secret and a code that was already exchanged', async () => {
      const wrong = connect({ ...settingsOf(app(), client), clientSecret: 'svc_sec_wrong' });
      const { callbackUrl, stored } = await authorize();
      await expect(wrong.finish(callbackUrl, stored)).rejects.toMatchObject(
        errorResponse(401, 'invalid_client'),
      );
      const { token } = await partner.finish(callbackUrl, stored);
      await expect(partner.finish(callbackUrl, stored)).rejects.toMatchObject(
        errorResponse(400, 'invalid_grant'),
      );
      expect(await statusOfMe(app(), token.access_token)).toBe(200);
    });
  });

  describe("without PKCE, as in the library's documentation", () => {
    const redirect_uri = 'https://garden.example/callback';
    const state = 'xyzABC123';

    const authenticationOptions = [
      { authorizationMethod: 'header', credentialsEncodingMode: 'strict' },
      { authorizationMethod: 'header', credentialsEncodingMode: 'loose' },
      { authorizationMethod: 'body' },
    ] as const;

    it.each(authenticationOptions)(
      'O81 O82 exchanges, refreshes and revokes with %o',
      async (options) => {
        const { clientId: id, secret = '' } = await app().addClient({
          redirectUris: [redirect_uri],
        });
        const auth = { tokenHost: app().baseUrl };
        const partner = new AuthorizationCode({ client: { id, secret }, auth, options });
        const link = partner.authorizeURL({ redirect_uri, scope: SCOPE.split(' '), state });
        const callbackUrl = await decide(app(), link);
        expect(callbackUrl.searchParams.get('state')).toBe(state);
        const code = callbackUrl.searchParams.get('code') ?? '';
        const token = await partner.getToken({ code, redirect_uri });
        const narrower = await token.refresh({ scope: ['posts.read'] });
        expect(narrower.token.scope).toBe('posts.read');
        expect(await statusOfMe(app(), narrower.token.access_token)).toBe(403);
        await narrower.revokeAll();
        await expect(narrower.refresh()).rejects.toMatchObject(errorResponse(400, 'invalid_grant'));

        const wrong = new AuthorizationCode({ client: { id, secret: 'x' }, auth, options });
        await expect(wrong.getToken({ code, redirect_uri })).rejects.toMatchObject(
          errorResponse(401, 'invalid_client'),
        );
      },
    );
  });
});
