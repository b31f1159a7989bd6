import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { Browser } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import {
  authorizeLink,
  exchange,
  newCode,
  obtainTokens,
  sendRefresh,
} from '../support/oauth-flow.js';
import { submitPhone, VERIFY } from '../support/sign-in.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;
const LOCKS_ROWS = /^(INSERT|UPDATE|DELETE|REPLACE)\b|\bFOR UPDATE\b/i;
const COUNTS_ATTEMPTS =
  /^(INSERT INTO|UPDATE) throttle_hits\b|^SELECT .* FROM throttle_hits .*\bFOR UPDATE\b/is;
const LOCKS_GRANT = /^UPDATE grants |^SELECT .* FROM grants .*\bFOR UPDATE\b/is;

onOneEngine('Statements of the token endpoint and of the forms', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  /** The statements of `work`, without the quotes of identifiers. */
  async function plainStatementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const statements = await app().statementsOf(work);
    return statements.map((statement) => statement.replaceAll(/[`"]/g, ''));
  }

  /** Asserts that `work` executes one UPDATE of the table that both checks and sets the column, so that only one of two concurrent requests succeeds. */
  async function expectConditionalUpdate(
    table: string,
    column: string,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const updates = (await plainStatementsOf(work)).filter(
      // Another UPDATE counts the attempts at a one-time password.
      (text) => text.startsWith(`UPDATE ${table} `) && !text.includes('attempts = attempts'),
    );
    expect(updates).toEqual([
      expect.stringMatching(new RegExp(`SET .*${column} = .* WHERE .*${column} IS NULL`)),
    ]);
  }

  it('O137 consumes a code and a refresh token by one conditional UPDATE each', async () => {
    const code = await newCode(app(), client);
    const consume = (): Promise<Response> => exchange(app(), client, code);
    await expectConditionalUpdate('authorization_codes', 'consumed_at', consume);
    const { refresh_token } = await obtainTokens(app(), client);
    const refresh = (): Promise<Response> => sendRefresh(app(), client, refresh_token);
    await expectConditionalUpdate('refresh_tokens', 'consumed_at', refresh);
  });

  it('O137 consumes a one-time password and a decision by one conditional UPDATE each', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const codePage = await submitPhone(visitor, authorizeLink(client), user.phone);
    const code = await app().sms.password(user.phone);
    let page = codePage;
    await expectConditionalUpdate('otp_challenges', 'consumed_at', async () => {
      page = await visitor.submit(codePage, VERIFY, { code });
    });
    const decide = (): Promise<unknown> => visitor.allow(page, ['profile.read']);
    await expectConditionalUpdate('authorizations', 'answered_at', decide);
  });

  /**
   * The statements that lock rows in each transaction of `work`. Omits the transactions that only count attempts for the rate
   * limits.
   */
  async function locksOf(work: () => Promise<unknown>): Promise<string[][]> {
    const transactions: string[][] = [];
    let current: string[] | undefined;
    for (const statement of await plainStatementsOf(work)) {
      if (/^(BEGIN|START) /i.test(statement)) transactions.push((current = []));
      else if (/^(COMMIT|ROLLBACK)/i.test(statement)) current = undefined;
      else if (LOCKS_ROWS.test(statement)) current?.push(statement);
    }
    const countsAttempts = (locks: string[]): boolean =>
      locks.length > 0 && locks.every((lock) => COUNTS_ATTEMPTS.test(lock));
    return transactions.filter((locks) => !countsAttempts(locks));
  }

  /** Asserts that each transaction of `work` locks the grant before other rows and deletes nothing. */
  async function expectGrantFirst(work: () => Promise<Response>, status: number): Promise<void> {
    // Otherwise, the transaction that writes the last use of an earlier request could run during `work`.
    await app().service(GrantUsageRecorder).flush();
    const transactions = await locksOf(async () => expect((await work()).status).toBe(status));
    expect(transactions.length).toBeGreaterThan(0);
    for (const locks of transactions) {
      expect(locks[0]).toMatch(LOCKS_GRANT);
      expect(locks.filter((statement) => statement.startsWith('DELETE'))).toEqual([]);
    }
  }

  it.each([
    ['an exchange', 0],
    ['a reused code', 10 * SECOND],
  ])('O138 locks the grant first and deletes nothing for %s', async (_, reusedAfter) => {
    const code = await newCode(app(), client);
    if (reusedAfter > 0) await exchange(app(), client, code);
    app().clock.advance(reusedAfter);
    await expectGrantFirst(() => exchange(app(), client, code), reusedAfter > 0 ? 400 : 200);
  });

  it.each([
    ['a refresh', 0],
    ['a reused refresh token', 31 * SECOND],
  ])('O138 locks the grant first and deletes nothing for %s', async (_, reusedAfter) => {
    const { refresh_token } = await obtainTokens(app(), client);
    if (reusedAfter > 0) await sendRefresh(app(), client, refresh_token);
    app().clock.advance(reusedAfter);
    const refresh = (): Promise<Response> => sendRefresh(app(), client, refresh_token);
    await expectGrantFirst(refresh, reusedAfter > 0 ? 400 : 200);
  });
});
