import mysql, { type Connection } from 'mysql2/promise';
import { expectApiError } from '../../support/api.js';
import { rounds, ROUNDS, ROUNDS_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { allEqual, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

const RETRIES = 3;
/** The longest pause before each try after the first, in milliseconds. */
const LONGEST_PAUSES_MS = [40, 80, 120];
const DEADLOCK = 1213;

onEachServer('A publish that deadlocks with another unit of work', (database) => {
  const app = useTestApp(database);
  let other: Connection;
  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
    await other.query('CREATE TABLE ballast (id INTEGER PRIMARY KEY)');
  });
  afterAll(() => other?.end());

  /**
   * Holds the app's quota, which a publish wants last. The server ends the unit that wrote less, and this one has written
   * more than a publish does.
   */
  async function holdQuota({ client }: Member): Promise<void> {
    await other.beginTransaction();
    const rows = Array.from({ length: 500 }, (_, id) => [id]);
    await other.query('INSERT INTO ballast (id) VALUES ?', [rows]);
    await other.query('SELECT used FROM quota_usage WHERE client_id = ? FOR UPDATE', [
      client.clientId,
    ]);
  }

  it(
    `C114 is run again and succeeds, in ${ROUNDS} rounds`,
    () =>
      rounds(async () => {
        const member = await Member.join(app());
        await member.publish();
        await holdQuota(member);
        const statements = await app().statementsOf(async () => {
          const publishing = member.post('/posts', { content: 'Hi' });
          await expect
            .poll(() => isStatementRunning(app(), 'UPDATE quota_usage'), { timeout: 4000 })
            .toBe(true);
          // Held by the publish, which waits for what is held here.
          await other.query('UPDATE users SET karma = karma + 1 WHERE id = ?', [member.user.id]);
          await other.rollback();
          expect((await publishing).status).toBe(201);
        });
        const inserts = statements.filter((sql) => sql.startsWith('INSERT INTO `posts`'));
        expect(inserts.length).toBeGreaterThanOrEqual(2);
        expect(inserts.length).toBeLessThanOrEqual(1 + RETRIES);
        expect(await countPublished(app(), member)).toEqual(allEqual(2));
      }),
    ROUNDS_MS,
  );
});

onEachServer('A publish that loses again and again', (database) => {
  // One connection, so that what a trigger counts in its session is what the service tried.
  const app = useTestApp(database, { DB_POOL_SIZE: '1' });

  /** From now on, so many inserts of a post fail as if they had lost. */
  async function failNext(times: number): Promise<void> {
    const { dataSource } = app();
    await dataSource.query("SET @tried = 0, @at = ''");
    await dataSource.query('DROP TRIGGER IF EXISTS lose');
    await dataSource.query(`CREATE TRIGGER lose BEFORE INSERT ON posts FOR EACH ROW BEGIN
      SET @tried = @tried + 1, @at = CONCAT(@at, ' ', UNIX_TIMESTAMP(SYSDATE(6)) * 1000);
      IF @tried <= ${times} THEN
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = ${DEADLOCK}, MESSAGE_TEXT = 'lost';
      END IF;
    END`);
  }

  /** The times of the tries, in milliseconds. */
  async function tries(): Promise<number[]> {
    const [{ at }] = await app().dataSource.query<[{ at: string }]>('SELECT @at AS at');
    return at.trim().split(' ').map(Number);
  }

  it(
    `C114 is tried ${RETRIES} times more, after pauses that are left to chance, in ${ROUNDS} rounds`,
    async () => {
      /** The share that each pause was of the longest one. */
      const shares: number[] = [];
      await rounds(async () => {
        const member = await Member.join(app());
        await failNext(RETRIES);
        expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
        const times = await tries();
        expect(times).toHaveLength(1 + RETRIES);
        LONGEST_PAUSES_MS.forEach((longest, retry) => {
          shares.push(((times[retry + 1] ?? 0) - (times[retry] ?? 0)) / longest);
        });
        expect(await countPublished(app(), member)).toEqual(allEqual(1));
      });
      expect(Math.max(...shares) - Math.min(...shares)).toBeGreaterThan(0.2);
    },
    ROUNDS_MS,
  );

  it(
    `C114 once too often is told to come back, and has published nothing, in ${ROUNDS} rounds`,
    () =>
      rounds(async () => {
        const member = await Member.join(app());
        await failNext(1 + RETRIES);
        const answer = await member.post('/posts', { content: 'Hi' });
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        await expectApiError(answer, 503, 'service_unavailable');
        expect(await tries()).toHaveLength(1 + RETRIES);
        expect(await countPublished(app(), member)).toEqual(allEqual(0));
        expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
      }),
    ROUNDS_MS,
  );
});
