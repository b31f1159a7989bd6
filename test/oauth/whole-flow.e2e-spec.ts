import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('The authorization code flow', (database) => {
  const app = useTestApp(database);

  it.each(['confidential', 'public'] as const)(
    'gives a %s app tokens that read the profile, and refreshes them',
    async (kind) => {
      const user = await app().addUser();
      const client = await app().addClient({ kind });
      const redirect = await approve(app(), user, client);
      expect(redirect.get('state')).toBe('af0ifjsldkj');
      expect(redirect.get('iss')).toBe(app().baseUrl);
      const answer = await exchange(app(), client, redirect.get('code') ?? '');
      expect(answer.status).toBe(200);
      const tokens = await json<TokenBody>(answer);
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
