import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { Clock, addMilliseconds, SECOND, SystemClock } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import { GatewayError, createSmsSender, type SmsSender } from './sms-senders.js';

const MESSAGE = {
  id: '8a5f2c1e-4b7d-4e21-9c3a-6f0d1b2e3a4c',
  to: '+14155552671',
  text: 'Ваш код & code: 123456\n\n@example.com #123456',
};
const SECRET = 'a webhook secret of some length';
const ACCOUNT = 'AC0123456789';
const TOKEN = 'twilio-auth-token';

type Respond = (response: ServerResponse) => void;

interface Received {
  method?: string;
  path?: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const servers: Server[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const status =
  (code: number, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(code, headers).end('{"detail":"ignored"}');
const silence: Respond = () => undefined;
const hangUp: Respond = (response) => response.destroy();
const acceptThenBreak: Respond = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{', () => response.destroy());
};

/** Starts a gateway on loopback that sends these responses in order and repeats the last one. */
async function gateway(responses: readonly Respond[], port = 0) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const { method, url: path, headers } = request;
    received.push({ method, path, headers, body });
    (responses[received.length - 1] ?? responses.at(-1) ?? silence)(response);
  });
  servers.push(server);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return { received, port: address.port, url: `http://127.0.0.1:${address.port}` };
}

/** A loopback port without a listener. */
async function closedPort(): Promise<number> {
  const { port } = await gateway([]);
  const server = servers.pop();
  server?.close();
  return port;
}

/** A clock that advances by 7 seconds at each call. */
class SteppingClock extends Clock {
  private time = new Date('2026-03-01T12:00:00.900Z');

  override machineTime(): number {
    this.time = addMilliseconds(this.time, 7 * SECOND);
    return this.time.getTime();
  }

  override monotonic(): Date {
    return this.now();
  }
}

function webhook(
  url: string,
  options: Partial<Extract<SmsConfig, { sender: 'webhook' }>> = {},
): SmsSender {
  return createSmsSender(
    { sender: 'webhook', url: `${url}/sms?tenant=7`, secret: SECRET, timeoutMs: 3000, ...options },
    new SteppingClock(),
  );
}

function twilio(
  apiUrl: string,
  options: Partial<Extract<SmsConfig, { sender: 'twilio' }>> = {},
): SmsSender {
  return createSmsSender(
    {
      sender: 'twilio',
      apiUrl,
      accountSid: ACCOUNT,
      authToken: TOKEN,
      from: '+15005550006',
      timeoutMs: 3000,
      ...options,
    },
    new SystemClock(),
  );
}

async function failureOf(sending: Promise<void>): Promise<GatewayError> {
  const outcome = await sending.catch((error: unknown) => error);
  if (!(outcome instanceof GatewayError))
    throw new Error('The sender did not throw a GatewayError.');
  return outcome;
}

function onlyCall(received: readonly Received[]): Received {
  const [call] = received;
  if (call === undefined || received.length > 1)
    throw new Error(`The gateway received ${received.length} calls instead of one.`);
  return call;
}

function signatureOf({ headers, body }: Received, key: Buffer): string {
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
  return `v1,${createHmac('sha256', key).update(signed, 'utf8').digest('base64')}`;
}

function idsOf(received: readonly Received[]): unknown[] {
  return received.map(({ headers }) => headers['webhook-id']);
}

async function fileSender() {
  const folder = await mkdtemp(join(tmpdir(), 'sms-'));
  folders.push(folder);
  const file = join(folder, 'not', 'yet', 'sms.jsonl');
  return { folder, file, sender: createSmsSender({ sender: 'file', file }, new SystemClock()) };
}

describe('Console sender', () => {
  it('writes one readable line per message', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await createSmsSender({ sender: 'console' }, new SystemClock()).send(MESSAGE);
    const written = write.mock.calls.map(([chunk]) => chunk);
    write.mockRestore();
    expect(written).toEqual(['SMS to +14155552671: Ваш код & code: 123456 @example.com #123456\n']);
  });
});

describe('File sender', () => {
  it('appends one JSON line per message, also when messages are sent concurrently', async () => {
    const { file, sender } = await fileSender();
    const texts = Array.from({ length: 20 }, (_, index) => `${MESSAGE.text} ${index}`);
    await sender.send(MESSAGE);
    await Promise.all(texts.map((text) => sender.send({ ...MESSAGE, text })));

    const [first, ...others] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(first).toBe(JSON.stringify({ to: MESSAGE.to, text: MESSAGE.text }));
    const expected = texts.map((text) => JSON.stringify({ to: MESSAGE.to, text }));
    expect(others.toSorted()).toEqual(expected.toSorted());
  });

  it('creates a file that only its owner can read', async () => {
    const { file, sender } = await fileSender();
    await sender.send(MESSAGE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('rejects when the line cannot be written', async () => {
    const { folder } = await fileSender();
    const sender = createSmsSender({ sender: 'file', file: folder }, new SystemClock());
    await expect(sender.send(MESSAGE)).rejects.toThrow('EISDIR');
  });
});

describe('Webhook sender', () => {
  const key = Buffer.from([...Array.from({ length: 24 }).keys()].map((byte) => byte + 200));
  it.each([
    ['a text', SECRET, Buffer.from(SECRET)],
    ['a base64 key after whsec_', `whsec_${key.toString('base64')}`, key],
  ])('posts the message as JSON, signed with the secret: %s', async (_, secret, signingKey) => {
    const { url, received } = await gateway([status(204)]);
    await webhook(url, { secret }).send(MESSAGE);
    const call = onlyCall(received);
    expect(call).toMatchObject({ method: 'POST', path: '/sms?tenant=7' });
    expect(call.headers['content-type']).toBe('application/json');
    expect(JSON.parse(call.body)).toEqual({ to: MESSAGE.to, text: MESSAGE.text });
    expect(call.headers['webhook-timestamp']).toBe(
      String(Date.parse('2026-03-01T12:00:07Z') / 1000),
    );
    expect(call.headers['webhook-signature']).toBe(signatureOf(call, signingKey));
  });

  it('makes one attempt, and signs each with a new timestamp and the id of the message', async () => {
    const { url, received } = await gateway([status(500), hangUp, status(202)]);
    const sender = webhook(url);
    const failures = [await failureOf(sender.send(MESSAGE)), await failureOf(sender.send(MESSAGE))];
    expect(failures.map(({ mayRetry }) => mayRetry)).toEqual([true, true]);
    await sender.send(MESSAGE);
    await sender.send({ ...MESSAGE, id: 'another' });
    expect(idsOf(received)).toEqual([MESSAGE.id, MESSAGE.id, MESSAGE.id, 'another']);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(4);
    for (const call of received) {
      expect(call.headers['webhook-signature']).toBe(signatureOf(call, Buffer.from(SECRET)));
    }
  });

  it('allows a retry after a timeout', async () => {
    const { url } = await gateway([silence]);
    const { fault, mayRetry } = await failureOf(webhook(url, { timeoutMs: 100 }).send(MESSAGE));
    expect([fault, mayRetry]).toEqual([{ kind: 'timeout' }, true]);
  });

  it.each([
    [408, true],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [400, false],
    [401, false],
    [404, false],
    [410, false],
  ])(
    'reports %i with its Retry-After, and whether a retry is allowed: %s',
    async (code, allowed) => {
      const { url, received } = await gateway([status(code, { 'retry-after': '60' }), status(200)]);
      const { message, fault, mayRetry } = await failureOf(webhook(url).send(MESSAGE));
      expect(message).toBe(`The SMS gateway returned ${code}.`);
      expect(fault).toEqual({ kind: 'status', status: code, retryAfter: '60' });
      expect(mayRetry).toBe(allowed);
      expect(received).toHaveLength(1);
    },
  );

  it.each([302, 307])('does not follow a redirect with %i', async (code) => {
    const elsewhere = await gateway([status(200)]);
    const { url, received } = await gateway([status(code, { location: elsewhere.url })]);
    const { message } = await failureOf(webhook(url).send(MESSAGE));
    expect(message).toBe(`The SMS gateway returned ${code}.`);
    expect(received).toHaveLength(1);
    expect(elsewhere.received).toEqual([]);
  });

  it('treats a message as accepted when the connection breaks after a 200', async () => {
    const { url, received } = await gateway([acceptThenBreak]);
    await webhook(url).send(MESSAGE);
    expect(received).toHaveLength(1);
  });
});

describe('Twilio sender', () => {
  it.each([
    ['From', '+15005550006'],
    ['MessagingServiceSid', 'MG0123456789'],
  ])('posts a form to the account with Basic authentication and %s=%s', async (name, from) => {
    const { url, received } = await gateway([status(201)]);
    await twilio(url, { from }).send(MESSAGE);
    const call = onlyCall(received);
    const path = `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`;
    expect(call).toMatchObject({ method: 'POST', path });
    expect(call.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded\b/);
    expect(call.headers.authorization).toBe(`Basic ${btoa(`${ACCOUNT}:${TOKEN}`)}`);
    expect(Object.fromEntries(new URLSearchParams(call.body))).toEqual({
      To: MESSAGE.to,
      Body: MESSAGE.text,
      [name]: from,
    });
  });

  it('allows a retry after a refused connection', async () => {
    const port = await closedPort();
    const failure = await failureOf(twilio(`http://127.0.0.1:${port}`).send(MESSAGE));
    expect(failure.mayRetry).toBe(true);
  });

  it.each([
    ['429', status(429), 'status', true],
    ['503', status(503), 'status', true],
    ['a timeout, because the gateway may have accepted the message', silence, 'timeout', false],
    ['a broken connection', hangUp, 'connection', false],
    ['500', status(500), 'status', false],
    ['502', status(502), 'status', false],
    ['408', status(408), 'status', false],
    ['400', status(400), 'status', false],
  ] as const)('makes one attempt, and allows a retry or not: %s', async (_, respond, kind, may) => {
    const { url, received } = await gateway([respond, status(201)]);
    const timeoutMs = kind === 'timeout' ? 100 : 3000;
    const { fault, mayRetry } = await failureOf(twilio(url, { timeoutMs }).send(MESSAGE));
    expect([fault.kind, mayRetry]).toEqual([kind, may]);
    expect(received).toHaveLength(1);
  });
});

describe('Error of a sender', () => {
  it('contains no phone number, text, secret or address for any kind of fault', async () => {
    const responses = [status(400), silence, hangUp];
    const gateways = await Promise.all(responses.map((respond) => gateway([respond])));
    const errors = await Promise.all([
      failureOf(webhook('http://user:password@127.0.0.1:9').send(MESSAGE)),
      ...gateways.flatMap(({ url }) => [
        failureOf(webhook(url, { timeoutMs: 100 }).send(MESSAGE)),
        failureOf(twilio(url, { timeoutMs: 100 }).send(MESSAGE)),
      ]),
    ]);
    const kinds = errors.map(({ fault }) => fault.kind);
    expect(new Set(kinds)).toEqual(new Set(['status', 'timeout', 'connection']));

    const shown = inspect(errors, { depth: null, showHidden: true });
    const ports = gateways.map(({ port }) => `:${port}`);
    const secrets = [SECRET, ACCOUNT, TOKEN, 'tenant', 'password'];
    for (const value of [MESSAGE.to.slice(1), '123456', ...secrets, ...ports]) {
      expect(shown).not.toContain(value);
    }
  });
});
