import { AccessToken, RefreshToken } from '../../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import {
  concurrently,
  rounds,
  ROUNDS,
  ROUNDS_TIMEOUT_MS,
  useCluster,
} from '../../support/cluster.js';
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

  async function race(): Promise<void> {
    const client = await setupApp().addClient();
    const user = await setupApp().addUser();
    const code = (await approve(cluster(), user, client)).get('code') ?? '';
    const before = await countTokens();
    const responses = await concurrently(RACERS, () => exchange(cluster(), client, code));
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(RACERS - 1).fill(400)]);
    for (const response of responses.filter(({ status }) => status === 400))
      expect(await json(response)).toMatchObject({ error: 'invalid_grant' });
    expect(await countTokens()).toEqual(before.map((count) => count + 1));
    const winner = responses.find(({ status }) => status === 200);
    const { access_token, refresh_token } = await json<TokenBody>(winner ?? Response.error());
    const headers = { authorization: `Bearer ${access_token}` };
    const me = await json(await cluster().fetch('/dev/v1/me', { headers }));
    expect(me).toMatchObject({ id: user.id });
    const form = { grant_type: 'refresh_token', refresh_token };
    expect((await requestToken(cluster(), client, form)).status).toBe(200);
  }

  it(
    `O77 returns working tokens once and invalid_grant to the other ${RACERS - 1}, in ${ROUNDS} rounds`,
    () => rounds(race),
    ROUNDS_TIMEOUT_MS,
  );
});
