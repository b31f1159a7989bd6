import { AccessToken, RefreshToken } from '../../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange, sendRefresh } from '../../support/oauth-flow.js';
import { concurrently, race, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';

const RACERS = 50;
/** No limits of failed token calls: each race has 49 losers, which count as failed. */
const ENV = rateLimits({ 'token-failures': UNLIMITED, 'token-address-failures': UNLIMITED });

onEachServer('Concurrent exchanges of one code in two processes', (database) => {
  const setupApp = useTestApp(database);
  const cluster = useCluster(database, ENV);
  beforeAll(() => setupApp().clock.set(new Date().toISOString()));

  function countTokens(): Promise<number[]> {
    const { manager } = setupApp().dataSource;
    return Promise.all([AccessToken, RefreshToken].map((each) => manager.count(each)));
  }

  race(`O77 returns working tokens once and invalid_grant to the other ${RACERS - 1}`, async () => {
    const client = await setupApp().addClient();
    const user = await setupApp().addUser();
    const code = (await approve(cluster(), user, client)).get('code') ?? '';
    const before = await countTokens();
    const responses = await concurrently(RACERS, () => exchange(cluster(), client, code));
    const [winner, ...losers] = responses.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    for (const response of losers)
      expect([response.status, await json(response)]).toMatchObject([
        400,
        { error: 'invalid_grant' },
      ]);
    expect(await countTokens()).toEqual(before.map((count) => count + 1));
    const { access_token, refresh_token } = await json<TokenBody>(winner ?? Response.error());
    const me = await json(await cluster().call(access_token, 'GET', '/me'));
    expect(me).toMatchObject({ id: user.id });
    expect((await sendRefresh(cluster(), client, refresh_token)).status).toBe(200);
  });
});
