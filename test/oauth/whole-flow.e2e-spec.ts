import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, STATE, type TokenBody } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Authorization code flow', (database) => {
  const app = useTestApp(database);

  it.each(['confidential', 'public'] as const)(
    'issues tokens to a %s app, reads the profile with them and refreshes them',
    async (kind) => {
      const user = await app().addUser();
      const client = await app().addClient({ kind });
      const redirect = await approve(app(), user, client);
      expect(redirect.get('state')).toBe(STATE);
      expect(redirect.get('iss')).toBe(app().baseUrl);
      const response = await exchange(app(), client, redirect.get('code') ?? '');
      expect(response.status).toBe(200);
      const tokens = await json<TokenBody>(response);
      const me = await app().call(tokens.access_token, 'GET', '/me');
      expect(await json(me)).toMatchObject({ id: user.id, name: user.name });
      const refreshed = await requestToken(app(), client, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
      });
      expect(refreshed.status).toBe(200);
    },
  );
});
