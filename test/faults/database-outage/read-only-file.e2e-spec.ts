import { approve, exchange } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ErrorBody, json } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

onSqlite('Read-only database file', (database) => {
  const app = useTestApp(database);
  /** Makes the connection of the service reject writes, as SQLite does for a read-only file. */
  const setWritable = (isWritable: boolean): Promise<unknown> =>
    app().dataSource.query(`PRAGMA query_only = ${isWritable ? 'OFF' : 'ON'}`);

  it('rejects writes with 503, keeps an authorization code valid, and serves reads', async () => {
    const member = await Member.join(app());
    const { client, user } = member;
    const code = (await approve(app(), user, client)).get('code') ?? '';
    const publish = (): Promise<Response> => member.post('/posts', { content: 'Hi' });
    await setWritable(false);
    try {
      for (const rejected of [await publish(), await exchange(app(), client, code)]) {
        expect(rejected.status).toBe(503);
        expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect((await json<ErrorBody>(rejected)).error).toMatch(/unavailable$/);
      }
      expect((await member.get('/posts')).status).toBe(200);
    } finally {
      await setWritable(true);
    }
    expect((await publish()).status).toBe(201);
    expect((await exchange(app(), client, code)).status).toBe(200);
  });
});
