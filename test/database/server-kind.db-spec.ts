import { connect, onOneServer } from '../support/database.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const TIMEOUT_MS = 500;

onOneServer('The question which kind of server it is', ({ url }) => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await TcpProxy.start(url);
  });
  afterAll(() => proxy?.stop());

  it('is given up when it gets no answer', async () => {
    proxy.swallow('SELECT VERSION() AS version');
    const begunAt = performance.now();
    const asking = connect(proxy.url, { DB_TIMEOUT_MS: String(TIMEOUT_MS) });
    await expect(asking).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
    expect(performance.now() - begunAt).toBeLessThan(4 * TIMEOUT_MS);
  }, 5000);
});
