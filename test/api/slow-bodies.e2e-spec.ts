import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'express';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { pinoFor, ServiceLogger } from '../../src/platform/observability/logger.js';
import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { expectedCounts, countPublished } from '../support/fixtures.js';
import { logLines, warningsAndErrors } from '../support/logs.js';
import { Member } from '../support/member.js';
import { parseResponse } from '../support/raw-request.js';
import { useTestApp } from '../support/test-app.js';

const TIMEOUT_MS = 500;
/** A timer may fire a little early. */
const TIMER_TOLERANCE_MS = 20;
/** Node checks its timeouts once a second. The rest allows for a slow machine. */
const MAX_DELAY_MS = 3000;

/** Sends a part of a request and keeps the connection open. */
async function sendPart(baseUrl: string, lines: readonly string[], body: string): Promise<Socket> {
  const { port, host } = new URL(baseUrl);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write([...lines, `Host: ${host}`, '', body].join('\r\n'));
  return socket;
}

function publishLines(token: string, ...headers: string[]): string[] {
  return [
    'POST /dev/v1/posts HTTP/1.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...headers,
  ];
}

/** The only response on a connection, which the server closes. */
async function responseOn(socket: Socket): Promise<Response> {
  return parseResponse(await text(socket)) ?? Response.error();
}

onOneEngine('Incomplete requests', (database) => {
  const app = useTestApp(database, { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) });

  // Each of these tests waits for the timeout, so they run concurrently.
  describe('that stall', () => {
    it.concurrent.each([
      ['with a length', ['Content-Length: 16']],
      ['in chunks', ['Transfer-Encoding: chunked']],
      ['compressed', ['Content-Length: 16', 'Content-Encoding: gzip']],
      ['too large', ['Content-Length: 10000000']],
    ])('C20 get 408 and a closed connection after the timeout: a body %s', async (_, headers) => {
      const member = await Member.join(app());
      const startedAt = performance.now();
      const lines = publishLines(member.token, ...headers);
      const response = await responseOn(await sendPart(app().baseUrl, lines, '1'));
      expect(performance.now() - startedAt).toBeGreaterThan(TIMEOUT_MS - TIMER_TOLERANCE_MS);
      expect(response.headers.get('connection')).toBe('close');
      await expectApiError(response, 408, 'request_timeout');
      expect(await countPublished(app(), member)).toEqual(expectedCounts(0));
      await app().service(CallLog).flush();
      const { clientId } = member.client;
      const calls = await app().dataSource.manager.findBy(ApiCall, { clientId });
      expect(calls).toMatchObject([{ route: 'POST /dev/v1/posts', status: 408 }]);
    });

    it.concurrent('C20 get 408 in the format of OAuth at the token endpoint', async () => {
      const lines = [
        'POST /oauth/token HTTP/1.1',
        'Content-Type: application/x-www-form-urlencoded',
        'Content-Length: 20',
      ];
      const response = await responseOn(await sendPart(app().baseUrl, lines, 'grant_type='));
      expect([response.status, response.headers.get('connection'), await response.json()]).toEqual([
        408,
        'close',
        { error: 'invalid_request', error_description: expect.stringMatching(/in time/) },
      ]);
    });

    it.concurrent.each([
      ['incomplete headers', 'GET /livez HTTP/1.1\r\n'],
      ['no bytes', ''],
    ])('C20 get 408 and a closed connection after the timeout: %s', async (_, sent) => {
      const startedAt = performance.now();
      const socket = connect(app().config.server.port, '127.0.0.1');
      await once(socket, 'connect');
      if (sent !== '') socket.write(sent);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
      const took = performance.now() - startedAt;
      expect(took).toBeGreaterThan(TIMEOUT_MS - TIMER_TOLERANCE_MS);
      expect(took).toBeLessThan(TIMEOUT_MS + MAX_DELAY_MS);
    });
  });

  it('C20 accepts a body that arrives slowly but within the timeout', async () => {
    const member = await Member.join(app());
    const body = '{"content":"Hi"}';
    const headers = [`Content-Length: ${body.length}`, 'Connection: close'];
    const socket = await sendPart(app().baseUrl, publishLines(member.token, ...headers), '');
    for (const part of [body.slice(0, 8), body.slice(8)]) {
      await sleep(TIMEOUT_MS / 10);
      socket.write(part);
    }
    expect((await responseOn(socket)).status).toBe(201);
  });

  it('C20 rejects an unauthenticated request without waiting for its body', async () => {
    const headers = ['Content-Length: 16', 'Connection: close'];
    const socket = await sendPart(app().baseUrl, publishLines('svcat_x', ...headers), '{');
    // After the timeout, the error would be 408.
    await expectApiError(await responseOn(socket), 401, 'invalid_token');
  });

  it.each([
    ['a body with a length', ['Content-Length: 100']],
    ['a chunked body', ['Transfer-Encoding: chunked']],
    ['a compressed body', ['Content-Length: 100', 'Content-Encoding: gzip']],
  ])(
    'C22 logs status 499 at info level when the client disconnects in the middle of %s',
    async (_, headers) => {
      const output: string[] = [];
      const config = loadConfig({
        NODE_ENV: 'test',
        DATABASE_URL: database.url,
        LOG_LEVEL: 'info',
      });
      const log = pinoFor(config, { write: (line: string) => void output.push(line) });
      app().nest.useLogger(new ServiceLogger(log));
      const member = await Member.join(app());
      const arrival = once(app().nest.getHttpServer(), 'request');
      const lines = publishLines(member.token, 'X-Request-Id: left-early', ...headers);
      const socket = await sendPart(app().baseUrl, lines, '{"content"');
      const [received] = (await arrival) as [Request];
      await expect.poll(() => received.context.caller?.clientId).toBe(member.client.clientId);
      socket.destroy();
      const logged = () => logLines(output.join('')).filter(({ msg }) => msg === 'request');
      await expect.poll(logged, { timeout: 5000 }).toHaveLength(1);
      expect(logged()).toMatchObject([
        { level: 'info', client_request_id: 'left-early', route: '/dev/v1/posts', status: 499 },
      ]);
      expect(warningsAndErrors(output.join(''))).toEqual([]);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(0));
      expect((await app().fetch('/livez')).status).toBe(200);
    },
  );
});
