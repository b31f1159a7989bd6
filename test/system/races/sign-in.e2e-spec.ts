import {
  OtpChallenge,
  SignInSession,
} from '../../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { concurrently, race, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { countGrantsAndCodes } from '../../support/responses.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';

const DECISIONS = 20;
const GUESSES = 50;
/** The attempts that a one-time password of a stranger allows. */
const MAX_COMPARED = 3;
/** Almost all guesses and decisions of a race fail, and all come from one address. */
const ENV = rateLimits({
  'sign-in-address-failures': UNLIMITED,
  'wrong-codes-per-day': UNLIMITED,
});

onEachServer('Concurrent form submissions to two processes', (database) => {
  const setupApp = useTestApp(database);
  const cluster = useCluster(database, ENV);
  beforeAll(() => setupApp().clock.set(new Date().toISOString()));

  race(
    `O33 issues one code for ${DECISIONS} decisions on one authorization request and returns 409 to the others`,
    async () => {
      const client = await setupApp().addClient();
      const visitor = new Browser(cluster());
      const consent = await visitor.signIn(authorizeLink(client), await setupApp().addUser());
      const responses = await concurrently(DECISIONS, () =>
        visitor.submit(consent, '/oauth/authorize/decision', {
          scope: [...client.scopes],
          decision: 'approve',
        }),
      );
      const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([303, ...Array<number>(DECISIONS - 1).fill(409)]);
      expect(await countGrantsAndCodes(setupApp(), client)).toEqual({ grants: 1, codes: 1 });
    },
  );

  race(
    `O47 compares at most ${MAX_COMPARED} of ${GUESSES} guesses at one password and signs in at most once`,
    async () => {
      const { id: userId, phone } = await setupApp().addUser();
      const visitor = new Browser(cluster());
      const phonePage = await visitor.open(authorizeLink(await setupApp().addClient()));
      const page = await visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone });
      const correct = Number(await cluster().sms.password(phone));
      // The guess at this position is the correct password.
      const position = Math.floor(Math.random() * GUESSES);
      const responses = await concurrently(GUESSES, (number) => {
        const guess = (correct + number - position + 1_000_000) % 1_000_000;
        const code = String(guess).padStart(6, '0');
        return visitor.submit(page, '/oauth/authorize/verify', { code }, { follow: false });
      });
      for (const { status } of responses) expect(status).toBeLessThan(500);
      const { manager } = setupApp().dataSource;
      const { attempts, consumedAt } = await manager.findOneByOrFail(OtpChallenge, { phone });
      // The redirects carry the results. The page after them shows the guess that ended last.
      const wrong = responses.filter(({ headers }) =>
        headers.getSetCookie().some((cookie) => cookie.includes('wrong_code')),
      ).length;
      const compared = wrong + (consumedAt === null ? 0 : 1);
      expect(compared).toBeLessThanOrEqual(MAX_COMPARED);
      if (consumedAt === null) expect(compared).toBe(MAX_COMPARED);
      expect(attempts).toBe(compared);
      expect(await manager.countBy(SignInSession, { userId })).toBe(consumedAt === null ? 0 : 1);
    },
  );
});
