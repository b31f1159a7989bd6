import mysql, { type Connection } from 'mysql2/promise';
import { expectApiError } from '../../support/api.js';
import { race, rounds, ROUNDS, ROUNDS_TIMEOUT_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { exchange, newCode, obtainTokens, sendRefresh } from '../../support/oauth-flow.js';
import { expectTokenError, json, type TokenBody } from '../../support/responses.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

const RETRIES = 3;
/** The maximum delay before each retry, in milliseconds. */
const MAX_DELAYS_MS = [40, 80, 120];
const DEADLOCK = 1213;
/** Deadlock, lock wait timeout, and MariaDB's "record has changed since last read". */
const CONFLICT_ERRORS = [DEADLOCK, 1205, 1020];

onEachServer('Conflicts of transactions', (database) => {
  // The trigger records the attempts in session variables, so all attempts must use the same connection.
  const app = useTestApp(database, { DB_POOL_SIZE: '1' });

  /** Makes the next `times` inserts fail as if another transaction had won. */
  async function failNextInserts(table: string, times: number, errno = DEADLOCK): Promise<void> {
    const { dataSource } = app();
    await dataSource.query("SET @attempts = 0, @times = ''");
    await dataSource.query('DROP TRIGGER IF EXISTS conflict');
    await dataSource.query(`CREATE TRIGGER conflict BEFORE INSERT ON ${table} FOR EACH ROW BEGIN
      SET @attempts = @attempts + 1, @times = CONCAT(@times, ' ', UNIX_TIMESTAMP(SYSDATE(6)) * 1000);
      IF @attempts <= ${times} THEN
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'conflict';
      END IF;
    END`);
  }

  /** When each attempt was made, in milliseconds. */
  async function attemptTimes(): Promise<number[]> {
    const [{ times }] = await app().dataSource.query<[{ times: string }]>('SELECT @times AS times');
    return times.trim().split(' ').map(Number);
  }

  beforeEach(() => app().dataSource.query('DROP TRIGGER IF EXISTS conflict'));

  for (const errno of CONFLICT_ERRORS) {
    race(
      `O139 retries token requests after error ${errno} up to ${RETRIES} times and succeeds`,
      async () => {
        const client = await app().addClient();
        const code = await newCode(app(), client);
        await failNextInserts('access_tokens', 1, errno);
        const exchanged = await exchange(app(), client, code);
        expect(exchanged.status).toBe(200);
        expect(await attemptTimes()).toHaveLength(2);

        await failNextInserts('access_tokens', RETRIES, errno);
        const { refresh_token } = await json<TokenBody>(exchanged);
        const refreshed = await sendRefresh(app(), client, refresh_token);
        expect(refreshed.status).toBe(200);
        expect(await attemptTimes()).toHaveLength(RETRIES + 1);
        const { access_token } = await json<TokenBody>(refreshed);
        expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
      },
    );

    race(`O68 returns 503 after ${RETRIES + 1} errors ${errno} and consumes no token`, async () => {
      const client = await app().addClient();
      const { refresh_token } = await obtainTokens(app(), client);
      await failNextInserts('access_tokens', RETRIES + 1, errno);
      const failed = await sendRefresh(app(), client, refresh_token);
      expect(failed.headers.get('retry-after')).toMatch(/^\d+$/);
      await expectTokenError(failed, 'temporarily_unavailable', 503);
      expect((await sendRefresh(app(), client, refresh_token)).status).toBe(200);
    });
  }

  it(
    `C114 retries a publish ${RETRIES} times after random delays, in ${ROUNDS} rounds`,
    async () => {
      /** Each delay as a fraction of its maximum. */
      const fractions: number[] = [];
      await rounds(async () => {
        const member = await Member.join(app());
        await failNextInserts('posts', RETRIES);
        expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
        const times = await attemptTimes();
        expect(times).toHaveLength(1 + RETRIES);
        MAX_DELAYS_MS.forEach((maximum, retry) => {
          fractions.push(((times[retry + 1] ?? 0) - (times[retry] ?? 0)) / maximum);
        });
        expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
      });
      const spread = Math.max(...fractions) - Math.min(...fractions);
      expect(spread).toBeGreaterThan(0.2);
    },
    ROUNDS_TIMEOUT_MS,
  );

  race(`C114 returns 503 after ${RETRIES + 1} conflicts and publishes nothing`, async () => {
    const member = await Member.join(app());
    await failNextInserts('posts', 1 + RETRIES);
    const response = await member.post('/posts', { content: 'Hi' });
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await expectApiError(response, 503, 'service_unavailable');
    expect(await attemptTimes()).toHaveLength(1 + RETRIES);
    expect(await countPublished(app(), member)).toEqual(expectedCounts(0));
    expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
  });
});

onEachServer('Deadlocks of two transactions', (database) => {
  const app = useTestApp(database);
  let other: Connection;
  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
    await other.query('CREATE TABLE ballast (id INTEGER PRIMARY KEY)');
  });
  afterAll(() => other?.end());

  /**
   * Locks the app's quota, which a publish updates last. Of two transactions in a deadlock, the database server rolls back the one
   * that wrote less: this one writes more than a publish.
   */
  async function lockQuota({ client }: Member): Promise<void> {
    await other.beginTransaction();
    const rows = Array.from({ length: 500 }, (_, id) => [id]);
    await other.query('INSERT INTO ballast (id) VALUES ?', [rows]);
    await other.query('SELECT used FROM quota_usage WHERE client_id = ? FOR UPDATE', [
      client.clientId,
    ]);
  }

  race('C114 retries the publish that is rolled back, and succeeds', async () => {
    const member = await Member.join(app());
    await member.publish();
    await lockQuota(member);
    const statements = await app().statementsOf(async () => {
      const publishing = member.post('/posts', { content: 'Hi' });
      await expect
        .poll(() => isStatementRunning(app(), 'UPDATE quota_usage'), { timeout: 4000 })
        .toBe(true);
      // The publish has locked this row and waits for the quota.
      await other.query('UPDATE users SET karma = karma + 1 WHERE id = ?', [member.user.id]);
      await other.rollback();
      expect((await publishing).status).toBe(201);
    });
    const inserts = statements.filter((sql) => sql.startsWith('INSERT INTO `posts`'));
    expect(inserts.length).toBeGreaterThanOrEqual(2);
    expect(inserts.length).toBeLessThanOrEqual(1 + RETRIES);
    expect(await countPublished(app(), member)).toEqual(expectedCounts(2));
  });
});
