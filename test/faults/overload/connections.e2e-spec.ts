import mysql from 'mysql2/promise';
import { expectApiError } from '../../support/api.js';
import { onEachEngine, onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const GETS = 1000;
/** Those that are let in at once, and as many that are next. */
const LEAST_ANSWERED = 40;
/** Far less than they would wait for each other, and enough for a slow machine. */
const LONGEST_MS = 10_000;
const TEST_MS = 60_000;
const POOL = { DB_POOL_SIZE: '4', DB_QUEUE_LIMIT: '400' };

/** Asserts that each is a 200 or tells when to come back. Answers how many were 200. */
async function expectAnswered(answers: readonly Response[]): Promise<number> {
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await expectApiError(answer, 503, 'service_unavailable');
  }
  return answers.filter(({ status }) => status === 200).length;
}

const allAtOnce = (member: Member): Promise<Response[]> =>
  Promise.all(Array.from({ length: GETS }, () => member.get('/me')));

onEachEngine('More requests at once than connections', (database) => {
  const app = useTestApp(database, POOL);

  it(`C27 ${GETS} GETs are answered or told when to come back`, { timeout: TEST_MS }, async () => {
    const member = await Member.join(app());
    const startedAt = performance.now();
    const answered = await expectAnswered(await allAtOnce(member));
    expect(performance.now() - startedAt).toBeLessThan(LONGEST_MS);
    expect(answered).toBeGreaterThanOrEqual(LEAST_ANSWERED);
    expect((await member.get('/me')).status).toBe(200);
  });
});

onEachServer('More requests at once than connections, all of which wait,', (database) => {
  const app = useTestApp(database, { ...POOL, DB_TIMEOUT_MS: '1000' });

  it(
    `C27 ${GETS} GETs are told when to come back as soon as they have waited long enough`,
    { timeout: TEST_MS },
    async () => {
      const member = await Member.join(app());
      const other = await mysql.createConnection(database.url);
      try {
        await other.query('LOCK TABLES access_tokens WRITE');
        const startedAt = performance.now();
        expect(await expectAnswered(await allAtOnce(member))).toBe(0);
        expect(performance.now() - startedAt).toBeLessThan(LONGEST_MS);
      } finally {
        await other.end();
      }
      const answers = Array.from({ length: 40 }, () => member.get('/me'));
      expect(await expectAnswered(await Promise.all(answers))).toBe(40);
    },
  );
});
