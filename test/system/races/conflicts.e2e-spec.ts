import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import { rounds, ROUNDS, ROUNDS_TIMEOUT_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { expectTokenError, json, type TokenBody } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

const RETRIES = 3;
/** Deadlock, lock wait timeout, and MariaDB's "record has changed since last read". */
const CONFLICT_ERRORS = [1213, 1205, 1020];

onEachServer('Token requests: transaction conflicts', (database) => {
  // The trigger counts the attempts in a session variable, so all attempts must use the same connection.
  const app = useTestApp(database, { DB_POOL_SIZE: '1' });

  /** Makes the next `times` inserts of an access token fail as if another transaction had won. */
  async function failNextInserts(times: number, errno: number): Promise<void> {
    const { dataSource } = app();
    await dataSource.query('SET @attempts = 0');
    await dataSource.query('DROP TRIGGER IF EXISTS conflict');
    await dataSource.query(`CREATE TRIGGER conflict BEFORE INSERT ON access_tokens FOR EACH ROW BEGIN
      SET @attempts = COALESCE(@attempts, 0) + 1;
      IF @attempts <= ${times} THEN
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'conflict';
      END IF;
    END`);
  }

  async function attempts(): Promise<number> {
    const [{ number }] = await app().dataSource.query<[{ number: string }]>(
      'SELECT @attempts AS number',
    );
    return Number(number);
  }

  beforeEach(() => app().dataSource.query('DROP TRIGGER IF EXISTS conflict'));

  it.each(CONFLICT_ERRORS)(
    `O139 retries after error %d up to ${RETRIES} times and succeeds, in ${ROUNDS} rounds`,
    (errno) =>
      rounds(async () => {
        const client = await app().addClient();
        const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
        await failNextInserts(1, errno);
        const exchanged = await exchange(app(), client, code);
        expect(exchanged.status).toBe(200);
        expect(await attempts()).toBe(2);

        await failNextInserts(RETRIES, errno);
        const { refresh_token } = await json<TokenBody>(exchanged);
        const form = { grant_type: 'refresh_token', refresh_token };
        const refreshed = await requestToken(app(), client, form);
        expect(refreshed.status).toBe(200);
        expect(await attempts()).toBe(RETRIES + 1);
        const { access_token } = await json<TokenBody>(refreshed);
        expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
      }),
    ROUNDS_TIMEOUT_MS,
  );

  it.each(CONFLICT_ERRORS)(
    `O68 returns 503 after ${RETRIES + 1} errors %d and consumes no token, in ${ROUNDS} rounds`,
    (errno) =>
      rounds(async () => {
        const client = await app().addClient();
        const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
        const { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
        const form = { grant_type: 'refresh_token', refresh_token };
        await failNextInserts(RETRIES + 1, errno);
        const failed = await requestToken(app(), client, form);
        expect(failed.headers.get('retry-after')).toMatch(/^\d+$/);
        await expectTokenError(failed, 'temporarily_unavailable', 503);
        expect((await requestToken(app(), client, form)).status).toBe(200);
      }),
    ROUNDS_TIMEOUT_MS,
  );
});
