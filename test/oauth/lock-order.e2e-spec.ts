import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { approve, exchange, obtainTokens, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;
const LOCKS_ROWS = /^(INSERT|UPDATE|DELETE|REPLACE)\b|\bFOR UPDATE\b/i;
const COUNTS_ATTEMPTS =
  /^(INSERT INTO|UPDATE) throttle_hits\b|^SELECT .* FROM throttle_hits .*\bFOR UPDATE\b/is;
const LOCKS_GRANT = /^UPDATE grants |^SELECT .* FROM grants .*\bFOR UPDATE\b/is;

onOneEngine('Token endpoint: order of locks', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  const newCode = async (): Promise<string> =>
    (await approve(app(), await app().addUser(), client)).get('code') ?? '';

  const refresh = (refresh_token: string): Promise<Response> =>
    requestToken(app(), client, { grant_type: 'refresh_token', refresh_token });

  /**
   * The statements that lock rows in each transaction of `work`, without the quotes of identifiers. Omits the transactions that only
   * count attempts for the rate limits.
   */
  async function locksOf(work: () => Promise<unknown>): Promise<string[][]> {
    const transactions: string[][] = [];
    let current: string[] | undefined;
    for (const statement of await app().statementsOf(work)) {
      if (/^(BEGIN|START) /i.test(statement)) transactions.push((current = []));
      else if (/^(COMMIT|ROLLBACK)/i.test(statement)) current = undefined;
      else if (LOCKS_ROWS.test(statement)) current?.push(statement.replaceAll(/[`"]/g, ''));
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

  it('O138 locks the grant first and deletes nothing in an exchange', async () => {
    const code = await newCode();
    await expectGrantFirst(() => exchange(app(), client, code), 200);
  });

  it('O138 locks the grant first and deletes nothing in a refresh', async () => {
    const { refresh_token } = await obtainTokens(app(), client);
    await expectGrantFirst(() => refresh(refresh_token), 200);
  });

  it('O138 locks the grant first and deletes nothing for a reused code', async () => {
    const code = await newCode();
    expect((await exchange(app(), client, code)).status).toBe(200);
    app().clock.advance(10 * SECOND);
    await expectGrantFirst(() => exchange(app(), client, code), 400);
  });

  it('O138 locks the grant first and deletes nothing for a reused refresh token', async () => {
    const { refresh_token } = await obtainTokens(app(), client);
    expect((await refresh(refresh_token)).status).toBe(200);
    app().clock.advance(31 * SECOND);
    await expectGrantFirst(() => refresh(refresh_token), 400);
  });
});
