import Sqlite from 'better-sqlite3';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { sendForm } from '../../support/oauth-flow.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';

const TIMEOUT_MS = 1000;
/** Far less than the sum of the timeouts: the requests wait at the same time. */
const MAX_MS = 3 * TIMEOUT_MS;
const PUBLISHERS = 20;

onSqlite('Database file locked by another process', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: String(TIMEOUT_MS) });

  it('causes 503 after one timeout, then 503 at once, and recovers as soon as the file is free', async ({
    task,
  }) => {
    const member = await Member.join(app());
    const { client, token } = member;
    const introspect = (): Promise<Response> =>
      sendForm(app(), '/oauth/introspect', client, { token });
    const publish = async (): Promise<Response> => member.post('/posts', { content: 'Hi' });
    const directConnection = new Sqlite(database.url.slice('sqlite:'.length));
    onTestFinished(() => void directConnection.close());
    let took = 0;
    for (let round = 0; round < 2; round += 1) {
      directConnection.exec('BEGIN EXCLUSIVE');
      const startedAt = performance.now();
      const rejected = await Promise.all(Array.from({ length: PUBLISHERS }, publish));
      took = performance.now() - startedAt;
      for (const { status, headers } of rejected) {
        expect(status).toBe(503);
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
      expect(took).toBeGreaterThan(TIMEOUT_MS);
      expect(took).toBeLessThan(MAX_MS);
      expect((await member.get('/posts')).status).toBe(200);
      const retriedAt = performance.now();
      expect((await introspect()).status).toBe(200);
      expect((await publish()).status).toBe(503);
      expect(performance.now() - retriedAt).toBeLessThan(TIMEOUT_MS);
      directConnection.exec('ROLLBACK');
      expect((await publish()).status).toBe(201);
      // At the next lock, the service waits for the timeout again.
      const [wait] = await app().dataSource.query('PRAGMA busy_timeout');
      expect(wait).toEqual({ timeout: TIMEOUT_MS });
    }
    reportFigure(
      task,
      `${database.engine.label} is locked by another process: ${PUBLISHERS} × 503 within ${(took / 1000).toFixed(1)} s, recovered at once`,
    );
  });
});
