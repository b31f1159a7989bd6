import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import { rounds, ROUNDS, ROUNDS_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { expectTokenError, json, type TokenBody } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

const RETRIES = 3;

onEachServer('A token request that loses against another unit of work', (database) => {
  // One connection, so that what a trigger counts in its session is what the service tried.
  const app = useTestApp(database, { DB_POOL_SIZE: '1' });

  /** From now on, so many inserts of an access token fail as if they had lost. */
  async function failNext(times: number, errno: number): Promise<void> {
    const { dataSource } = app();
    await dataSource.query('SET @tried = 0');
    await dataSource.query('DROP TRIGGER IF EXISTS lose');
    await dataSource.query(`CREATE TRIGGER lose BEFORE INSERT ON access_tokens FOR EACH ROW BEGIN
      SET @tried = COALESCE(@tried, 0) + 1;
      IF @tried <= ${times} THEN
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'lost';
      END IF;
    END`);
  }

  async function tried(): Promise<number> {
    const [{ number }] =
      await app().dataSource.query<[{ number: string }]>('SELECT @tried AS number');
    return Number(number);
  }

  beforeEach(() => app().dataSource.query('DROP TRIGGER IF EXISTS lose'));

  it.each([1213, 1205, 1020])(
    `O139 with error %d up to ${RETRIES} times succeeds all the same, in ${ROUNDS} rounds`,
    (errno) =>
      rounds(async () => {
        const client = await app().addClient();
        const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
        await failNext(1, errno);
        const exchanged = await exchange(app(), client, code);
        expect(exchanged.status).toBe(200);
        expect(await tried()).toBe(2);

        await failNext(RETRIES, errno);
        const { refresh_token } = await json<TokenBody>(exchanged);
        const form = { grant_type: 'refresh_token', refresh_token };
        const refreshed = await requestToken(app(), client, form);
        expect(refreshed.status).toBe(200);
        expect(await tried()).toBe(RETRIES + 1);
        const { access_token } = await json<TokenBody>(refreshed);
        expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
      }),
    ROUNDS_MS,
  );

  it.each([1213, 1205, 1020])(
    `O68 with error %d once too often is told to come back, and its token still works then, in ${ROUNDS} rounds`,
    (errno) =>
      rounds(async () => {
        const client = await app().addClient();
        const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
        const { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
        const form = { grant_type: 'refresh_token', refresh_token };
        await failNext(RETRIES + 1, errno);
        const lost = await requestToken(app(), client, form);
        expect(lost.headers.get('retry-after')).toMatch(/^\d+$/);
        await expectTokenError(lost, 'temporarily_unavailable', 503);
        expect((await requestToken(app(), client, form)).status).toBe(200);
      }),
    ROUNDS_MS,
  );
});
