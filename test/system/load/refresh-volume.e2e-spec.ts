import { obtainTokens, requestToken } from '../../support/oauth-flow.js';
import { onOneEngine } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

const REFRESHES = 1000;
const USERS = 20;

onOneEngine('Token endpoint: many refreshes', (database) => {
  const app = useTestApp(database);

  it(`O129 serves ${REFRESHES} refreshes for ${USERS} users from one address`, async () => {
    const client = await app().addClient();

    /** Refreshes one after the other, each time with the newest refresh token. Returns the statuses. */
    async function refreshRepeatedly(
      { refresh_token }: TokenBody,
      { count }: { count: number },
    ): Promise<number[]> {
      const statuses: number[] = [];
      for (let number = 0; number < count; number += 1) {
        const form = { grant_type: 'refresh_token', refresh_token };
        const response = await requestToken(app(), client, form);
        statuses.push(response.status);
        if (response.status === 200) ({ refresh_token } = await json<TokenBody>(response));
      }
      return statuses;
    }

    const tokens: TokenBody[] = [];
    for (let user = 0; user < USERS; user += 1) tokens.push(await obtainTokens(app(), client));
    const statuses = await Promise.all(
      tokens.map((tokensOfUser) => refreshRepeatedly(tokensOfUser, { count: REFRESHES / USERS })),
    );
    expect(statuses.flat()).toEqual(Array<number>(REFRESHES).fill(200));
  }, 120_000);
});
