import { connect } from 'node:net';
import mysql from 'mysql2/promise';
import { onEachServer, onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { requestsInFlight, useTestApp } from '../../support/test-app.js';
import { readPosts } from './requests.js';

const TIMEOUT_MS = 500;
/** The service drops a response that is unread for this time: twice the request timeout, and two seconds. */
const UNREAD_MS = 2 * TIMEOUT_MS + 2000;
/** Node checks the timeout once more after it has passed. */
const MAX_UNREAD_MS = 2 * UNREAD_MS + 3000;
const POLL_MS = 100;
const POSTS = 10;
const LONG = 'x'.repeat(10_000);
/** With 100 kB each, more than the socket buffers of a connection. */
const REQUESTS = 300;

onSqlite('Unread responses', (database) => {
  const app = useTestApp(database, { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) });

  it('are dropped after a timeout', async () => {
    const member = await Member.join(app());
    for (let posts = 0; posts < POSTS; posts += 1)
      expect((await member.post('/posts', { content: LONG })).status).toBe(201);
    const { hostname, port } = new URL(app().baseUrl);
    const reader = connect(Number(port), hostname).pause();
    try {
      reader.on('error', () => undefined);
      reader.write(readPosts(app().baseUrl, member.token).repeat(REQUESTS));
      await expect.poll(() => requestsInFlight(app())).toBeGreaterThan(0);
      const startedAt = performance.now();
      await expect
        .poll(() => requestsInFlight(app()), { timeout: MAX_UNREAD_MS, interval: POLL_MS })
        .toBe(0);
      expect(performance.now() - startedAt).toBeGreaterThan(UNREAD_MS - POLL_MS);
    } finally {
      reader.destroy();
    }
    expect((await member.get('/me')).status).toBe(200);
  });
});

onEachServer('Response that takes longer than the timeout of unread responses', (database) => {
  const app = useTestApp(database, {
    REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    DB_TIMEOUT_MS: String(UNREAD_MS + 1000),
  });

  it('is still sent', async () => {
    const member = await Member.join(app());
    const directConnection = await mysql.createConnection(database.url);
    try {
      await directConnection.query('LOCK TABLES posts WRITE');
      const startedAt = performance.now();
      expect((await member.get('/posts')).status).toBe(503);
      expect(performance.now() - startedAt).toBeGreaterThan(UNREAD_MS);
    } finally {
      await directConnection.end();
    }
    expect((await member.get('/posts')).status).toBe(200);
  });
});
