import { randomUUID } from 'node:crypto';
import { expectApiError } from '../support/api.js';
import { onEachServer } from '../support/database.js';
import { Member } from '../support/member.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { callAt, TestApp } from '../support/test-app.js';

const SHORTEN =
  'SET @default_lock_timeout = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = 1';
/** Fails as any statement does on a server that shuts down. */
const SHUT_DOWN = 'SIGNAL SQLSTATE "08S01" SET MYSQL_ERRNO = 1053';

onEachServer('A publish with a key whose short lock timeout cannot be set', (database) => {
  it('returns 503, not an error of the statement that would restore the timeout', async () => {
    const proxy = await TcpProxy.start(database.url);
    const app = await TestApp.start({ url: proxy.url });
    try {
      const member = await Member.join(app);
      proxy.replaceSql(SHORTEN, SHUT_DOWN.padEnd(SHORTEN.length));
      const key = { 'idempotency-key': randomUUID() };
      const body = { content: 'Hi' };
      const published = await callAt(app.baseUrl, member.token, 'POST', '/posts', body, key);
      await expectApiError(published, 503, 'service_unavailable');
    } finally {
      await app.stop();
      await proxy.stop();
    }
  });
});
