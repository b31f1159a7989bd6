import { Shutdown } from '../../src/platform/lifecycle/shutdown.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

onSqlite('Shutdown: requests before the port closes', (database) => {
  const app = useTestApp(database, { SHUTDOWN_DELAY_MS: '600000' });
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    void app().service(Shutdown).drain();
  });

  const statusAndConnection = ({ status, headers }: Response): unknown => [
    status,
    headers.get('connection'),
  ];

  it('C28 serves requests, and closes their connections', async () => {
    expect(statusAndConnection(await member.get('/me'))).toEqual([200, 'close']);
    const published = await app().call(member.token, 'POST', '/posts', { content: 'Hi' });
    expect(statusAndConnection(published)).toEqual([201, 'close']);
    expect(statusAndConnection(await app().fetch('/'))).toEqual([200, 'close']);
  });

  it('C28 C145 reports a live process that is not ready', async () => {
    const alive = await app().fetch('/livez');
    expect(statusAndConnection(alive)).toEqual([200, 'close']);
    expect(await json(alive)).toEqual({ status: 'ok' });
    const ready = await app().fetch('/readyz');
    expect(statusAndConnection(ready)).toEqual([503, 'close']);
    expect(ready.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await json(ready)).toEqual({
      status: 'not ready',
      reason: 'the service is shutting down',
    });
  });
});
