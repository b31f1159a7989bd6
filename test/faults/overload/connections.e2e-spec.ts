import mysql from 'mysql2/promise';
import { expectApiError } from '../../support/api.js';
import { onEachEngine, onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const GETS = 1000;
/** The bulkhead admits 20 requests at once, five for each connection. At least 20 more get a permit from its queue in time. */
const MIN_SERVED = 40;
/** Enough for a slow machine. On the locked table, far less than the timeouts of all requests in sequence. */
const MAX_MS = 10_000;
const TEST_TIMEOUT_MS = 60_000;
/** Fewer than the bulkhead admits and queues. */
const GETS_AFTER_LOCK = 40;
const POOL = { DB_POOL_SIZE: '4', DB_QUEUE_LIMIT: '400' };

/** Asserts that each response is 200 or 503 with Retry-After. Returns the number of 200. */
async function countServed(responses: readonly Response[]): Promise<number> {
  for (const response of responses.filter(({ status }) => status !== 200)) {
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await expectApiError(response, 503, 'service_unavailable');
  }
  return responses.filter(({ status }) => status === 200).length;
}

const allAtOnce = (member: Member): Promise<Response[]> =>
  Promise.all(Array.from({ length: GETS }, () => member.get('/me')));

onEachEngine('More concurrent requests than connections', (database) => {
  const app = useTestApp(database, POOL);

  it(
    `C27 returns 200 or 503 with Retry-After to each of ${GETS} GETs`,
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const member = await Member.join(app());
      const startedAt = performance.now();
      const served = await countServed(await allAtOnce(member));
      expect(performance.now() - startedAt).toBeLessThan(MAX_MS);
      expect(served).toBeGreaterThanOrEqual(MIN_SERVED);
      expect((await member.get('/me')).status).toBe(200);
    },
  );
});

onEachServer('More concurrent requests than connections, on a locked table', (database) => {
  const app = useTestApp(database, { ...POOL, DB_TIMEOUT_MS: '1000' });

  it(
    `C27 returns 503 with Retry-After to each of ${GETS} GETs within ${MAX_MS / 1000} s in all`,
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const member = await Member.join(app());
      const directConnection = await mysql.createConnection(database.url);
      try {
        await directConnection.query('LOCK TABLES access_tokens WRITE');
        const startedAt = performance.now();
        expect(await countServed(await allAtOnce(member))).toBe(0);
        expect(performance.now() - startedAt).toBeLessThan(MAX_MS);
      } finally {
        await directConnection.end();
      }
      const responses = Array.from({ length: GETS_AFTER_LOCK }, () => member.get('/me'));
      expect(await countServed(await Promise.all(responses))).toBe(GETS_AFTER_LOCK);
    },
  );
});
