import { connect, onOneServer } from '../support/database.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const TIMEOUT_MS = 150;

onOneServer('Detection of the database engine', ({ url }) => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await TcpProxy.start(url);
  });
  afterAll(() => proxy?.stop());

  it('fails after the timeout when the server does not respond', async () => {
    proxy.dropStatement('SELECT VERSION() AS version');
    const startedAt = performance.now();
    const connecting = connect(proxy.url, { DB_TIMEOUT_MS: String(TIMEOUT_MS) });
    await expect(connecting).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
    expect(performance.now() - startedAt).toBeLessThan(2000);
  }, 5000);
});
