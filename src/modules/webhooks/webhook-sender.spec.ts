import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { FixedClock } from '../../../test/support/doubles.js';
import { NameServer } from '../../../test/support/name-server.js';
import { RawReceiver } from '../../../test/support/raw-receiver.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { loadConfig } from '../../platform/config/load-config.js';
import type { WebhookEndpoint } from '../events/event.entities.js';
import { resolver } from './webhook-address.js';
import { type Attempt, WebhookSender } from './webhook-sender.js';

const TIMEOUT_MS = 15_000;
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const REDIRECT = 'Content-Length: 0\r\nLocation: http://127.0.0.1:1/\r\n\r\n';
const BODY = '{}';

function senderIn(production: boolean): WebhookSender {
  const config = loadConfig({ NODE_ENV: 'test', DATABASE_URL: 'sqlite:unused.sqlite' });
  const properties = { production: { value: production } };
  return new WebhookSender(new FixedClock(), Object.create(config, properties) as AppConfig);
}
const endpointAt = (url: string): WebhookEndpoint =>
  ({ url, secretSalt: 'salt', formerSalt: null, formerUntil: null }) as WebhookEndpoint;

/** Repeats bytes until the connection closes. */
const endless =
  (first: string, repeated: string) =>
  (socket: Socket): void => {
    socket.write(first);
    const timer = setInterval(() => socket.write(repeated), 50);
    socket.once('close', () => clearInterval(timer));
  };

describe('Requests to endpoints', () => {
  let sender: WebhookSender;
  let receiver: RawReceiver | undefined;

  beforeEach(() => {
    sender = senderIn(false);
  });
  afterEach(async () => {
    sender.stop();
    await receiver?.stop();
    receiver = undefined;
  });

  const send = (url: string, by = sender): Promise<Attempt> =>
    by.send(endpointAt(url), 'msg_1', BODY);
  async function sendTo(answer: Parameters<typeof RawReceiver.start>[0]): Promise<Attempt> {
    receiver = await RawReceiver.start(answer);
    return send(receiver.url);
  }

  describe('end with the status that arrived', () => {
    it.each<[string, string, number]>([
      ...[301, 302, 303, 307, 308].map((status): [string, string, number] => [
        `a redirect ${status}`,
        `HTTP/1.1 ${status} X\r\n${REDIRECT}`,
        status,
      ]),
      ['a body that breaks off', `${OK}Content-Length: 100\r\nConnection: close\r\n\r\nabc`, 200],
      ['a broken chunk', `${CHUNKED}zz\r\nhello\r\n`, 200],
      ['chunks with endless extensions', `${CHUNKED}1;${'a'.repeat(100_000)}`, 200],
      ['long trailers', `${CHUNKED}0\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 200],
      [
        'a body of more than 64 kB',
        `${OK}Content-Length: 999999\r\n\r\n${'x'.repeat(99_999)}`,
        200,
      ],
      ['early hints', `HTTP/1.1 103 X\r\n\r\n${OK}Content-Length: 0\r\n\r\n`, 200],
      ['another protocol', 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello', 101],
      ['101 without a protocol', 'HTTP/1.1 101 X\r\n\r\n', 101],
      [
        'two responses',
        `${OK}Content-Length: 0\r\n\r\nHTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n`,
        200,
      ],
    ])('%s', async (_what, answer, status) => {
      const end = (socket: Socket): void => {
        if (answer.includes('Connection: close')) socket.end(answer);
        else socket.write(answer);
      };
      expect(await sendTo(end)).toMatchObject({ status });
    });

    it('a compressed body, which is neither asked for nor decompressed', async () => {
      const bomb = gzipSync(Buffer.alloc(20_000_000));
      const head = `${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
      const before = process.memoryUsage().rss;
      const answer = (socket: Socket): void => {
        socket.write(head);
        socket.write(bomb);
      };
      expect(await sendTo(answer)).toMatchObject({ status: 200 });
      expect(process.memoryUsage().rss - before).toBeLessThan(20_000_000);
      expect(receiver?.received).not.toMatch(/accept-encoding/i);
    });
  });

  describe('fail without a status after', () => {
    it.each([
      ['long headers', `${OK}X: ${'a'.repeat(100_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
      ['many headers', `${OK}${'X: y\r\n'.repeat(10_000)}\r\n`, 'HPE_HEADER_OVERFLOW'],
      ['another protocol', 'SSH-2.0-x\r\n', 'HPE_INVALID_CONSTANT'],
      ['a closed connection', (socket: Socket) => socket.destroy(), 'ECONNRESET'],
      ['half a status', (socket: Socket) => socket.end('HTTP/1.1 20'), 'ECONNRESET'],
    ])('%s', async (_what, answer, error) => {
      expect(await sendTo(answer)).toEqual({ error });
    });
  });

  it(
    'end after 15 seconds, also if the endpoint sends something all the time',
    async () => {
      const receivers = await Promise.all([
        RawReceiver.start(() => undefined),
        RawReceiver.start(endless('', 'HTTP/1.1 103 X\r\n\r\n')),
        RawReceiver.start(endless(OK, 'X: y\r\n')),
        RawReceiver.start(endless(CHUNKED, '1\r\nx\r\n')),
      ]);
      const started = performance.now();
      const attempts = await Promise.all(receivers.map(({ url }) => send(url)));
      expect(performance.now() - started).toBeLessThan(TIMEOUT_MS + 2000);
      const timeout = { error: 'timeout' };
      expect(attempts).toEqual([timeout, timeout, timeout, { status: 200, retryAfter: null }]);
      await Promise.all(receivers.map((one) => one.stop()));
    },
    2 * TIMEOUT_MS,
  );

  describe('by name', () => {
    let names: NameServer;
    const systemServers = resolver.getServers();

    beforeEach(async () => {
      names = await NameServer.start();
      resolver.setServers([names.address]);
    });
    afterEach(async () => {
      resolver.cancel();
      resolver.setServers(systemServers);
      await names.stop();
    });

    const PUBLIC = { A: ['93.184.216.34'] };

    it.each([
      ['10.1.2.3', { A: ['10.1.2.3'] }],
      ['127.0.0.1', { A: ['127.0.0.1'] }],
      ['0.0.0.0', { A: ['0.0.0.0'] }],
      ['169.254.169.254', { A: ['169.254.169.254'] }],
      ['one private address of two', { A: ['93.184.216.34', '10.1.2.3'] }],
      ['::1', { AAAA: [[...Array<number>(15).fill(0), 1]] }],
      ['::ffff:10.1.2.3', { AAAA: [[...Array<number>(10).fill(0), 255, 255, 10, 1, 2, 3]] }],
      ['fd00::1', { ...PUBLIC, AAAA: [[0xfd, ...Array<number>(14).fill(0), 1]] }],
    ])('do not reach %s, although the name was public when it was set', async (_what, later) => {
      const url = new URL('https://rebound.example/events');
      const live = senderIn(true);
      names.names.set(url.hostname, PUBLIC);
      await expect(live.checkAddress(url)).resolves.toBeUndefined();
      names.names.set(url.hostname, later);
      expect(await send(url.href, live)).toEqual({ error: 'refused_address' });
      live.stop();
    });

    it('use the address that was checked, and not a later one', async () => {
      receiver = await RawReceiver.start(`${OK}Content-Length: 0\r\n\r\n`);
      const url = `http://development.example:${receiver.port}/`;
      names.names.set('development.example', { A: ['127.0.0.1'] });
      expect(await send(url)).toMatchObject({ status: 200 });
      names.names.set('development.example', { A: ['10.1.2.3'] });
      // The connection to the address that was allowed is open.
      expect(await send(url)).toMatchObject({ status: 200 });
      expect(receiver.connections).toBe(1);
      await receiver.stop();
      await expect.poll(() => send(url)).toEqual({ error: 'refused_address' });
      receiver = undefined;
    });

    it.each(['localhost', 'localhost.', '127.0.0.1', '[::1]'])(
      'do not reach %s in production, although it was set in development',
      async (host) => {
        receiver = await RawReceiver.start(`${OK}Content-Length: 0\r\n\r\n`);
        const live = senderIn(true);
        const attempt = await send(`http://${host}:${receiver.port}/`, live);
        expect(attempt).toHaveProperty('error');
        expect(receiver.connections).toBe(0);
        live.stop();
      },
    );

    it('do not wait for the name server of another endpoint', async () => {
      names.names.set('silent.example', 'silent');
      names.names.set('quick.example', { A: ['10.1.2.3'] });
      const silent = Array.from({ length: 8 }, () => send('https://silent.example/'));
      const started = performance.now();
      expect(await send('https://quick.example/')).toEqual({ error: 'refused_address' });
      expect(performance.now() - started).toBeLessThan(1000);
      sender.stop();
      await Promise.all(silent);
    });
  });

  it('ignore proxies of the environment', async () => {
    const proxy = await RawReceiver.start(`${OK}Content-Length: 0\r\n\r\n`);
    const url = `http://127.0.0.1:${proxy.port}`;
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])
      vi.stubEnv(name, url);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect(await sendTo('HTTP/1.1 204 X\r\n\r\n')).toMatchObject({ status: 204 });
    expect(proxy.connections).toBe(0);
    vi.unstubAllEnvs();
    await proxy.stop();
  });
});
