import { OtpChallenge } from '../../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { SignInSession } from '../../../src/modules/oauth/sign-in/sign-in-session.entity.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { concurrently, rounds, ROUNDS, ROUNDS_MS, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { countGrantsAndCodes } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

const DECISIONS = 20;
const GUESSES = 50;
const MOST_COMPARED = 5;

onEachServer('Forms that are sent many times at once to two processes', (database) => {
  const operator = useTestApp(database);
  const cluster = useCluster(database);
  beforeAll(() => operator().clock.set(new Date().toISOString()));

  async function decideAtOnce(): Promise<void> {
    const client = await operator().addClient();
    const visitor = new Browser(cluster());
    const consent = await visitor.signIn(authorizeLink(client), await operator().addUser());
    const answers = await concurrently(DECISIONS, () =>
      visitor.submit(consent, '/oauth/authorize/decision', {
        scope: [...client.scopes],
        decision: 'approve',
      }),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([303, ...Array<number>(DECISIONS - 1).fill(409)]);
    expect(await countGrantsAndCodes(operator(), client)).toEqual({ grants: 1, codes: 1 });
  }

  async function guessAtOnce(): Promise<void> {
    const { id: userId, phone } = await operator().addUser();
    const visitor = new Browser(cluster());
    const phonePage = await visitor.open(authorizeLink(await operator().addClient()));
    const page = await visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone });
    const right = Number(await cluster().sms.password(phone));
    const place = Math.floor(Math.random() * GUESSES);
    const answers = await concurrently(GUESSES, (number) => {
      const guess = (right + number - place + 1_000_000) % 1_000_000;
      const code = String(guess).padStart(6, '0');
      return visitor.submit(page, '/oauth/authorize/verify', { code });
    });
    for (const { status } of answers) expect(status).toBeLessThan(500);
    const { manager } = operator().dataSource;
    const { attempts, consumedAt } = await manager.findOneByOrFail(OtpChallenge, { phone });
    const wrong = answers.filter(({ html }) => html.includes('not the code we sent')).length;
    const compared = wrong + (consumedAt === null ? 0 : 1);
    expect(compared).toBeLessThanOrEqual(MOST_COMPARED);
    if (consumedAt === null) expect(compared).toBe(MOST_COMPARED);
    expect(attempts).toBe(compared);
    expect(await manager.countBy(SignInSession, { userId })).toBe(consumedAt === null ? 0 : 1);
  }

  it(
    `O33 Of ${DECISIONS} answers to one request, one gives a code and the others are told, ${ROUNDS} times`,
    () => rounds(decideAtOnce),
    ROUNDS_MS,
  );

  it(
    `O47 ${GUESSES} guesses at one password cause five comparisons at most, and sign in once at most, ${ROUNDS} times`,
    () => rounds(guessAtOnce),
    ROUNDS_MS,
  );
});
