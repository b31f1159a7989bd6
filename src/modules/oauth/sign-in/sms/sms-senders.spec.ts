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
import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Clock, later, SECOND, SystemClock } from '../../../../common/clock.js';
import type { SmsConfig } from '../../../../config/sms-config.js';
import { GatewayError } from './gateway-call.js';
import type { SmsSender } from './sms-sender.js';
import { smsSenderFor } from './sms-senders.js';

const MESSAGE = {
  id: '8a5f2c1e-4b7d-4e21-9c3a-6f0d1b2e3a4c',
  to: '+14155552671',
  text: 'Ваш код & code: 123456\n\n@example.com #123456',
};
const SECRET = 'a webhook secret of some length';
const ACCOUNT = 'AC0123456789';
const TOKEN = 'twilio-auth-token';

type Answer = (response: ServerResponse) => void;

interface Received {
  method?: string;
  path?: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const servers: Server[] = [];
const folders: string[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end('{"detail":"of no interest"}');
const silence: Answer = () => undefined;
const hangUp: Answer = (response) => response.destroy();
const takenThenBroken: Answer = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{', () => response.destroy());
};

/** A gateway on loopback that gives these answers in turn, the last one again and again. */
async function gateway(answers: readonly Answer[], port = 0) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const { method, url: path, headers } = request;
    received.push({ method, path, headers, body });
    (answers[received.length - 1] ?? answers.at(-1) ?? silence)(response);
  });
  servers.push(server);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return { received, port: address.port, url: `http://127.0.0.1:${address.port}` };
}

/** A loopback port on which nothing listens. */
async function closedPort(): Promise<number> {
  const { port } = await gateway([]);
  const server = servers.pop();
  server?.close();
  return port;
}

/** Every reading is seven seconds after the one before. */
class LeapingClock extends Clock {
  private time = new Date('2026-03-01T12:00:00.900Z');

  override now(): Date {
    this.time = later(this.time, 7 * SECOND);
    return this.time;
  }
}

function webhook(
  url: string,
  options: Partial<Extract<SmsConfig, { sender: 'webhook' }>> = {},
): SmsSender {
  return smsSenderFor(
    { sender: 'webhook', url: `${url}/sms?tenant=7`, secret: SECRET, timeoutMs: 3000, ...options },
    new LeapingClock(),
  );
}

function twilio(
  apiUrl: string,
  options: Partial<Extract<SmsConfig, { sender: 'twilio' }>> = {},
): SmsSender {
  return smsSenderFor(
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
  if (!(outcome instanceof GatewayError)) throw new Error('The send did not fail as expected.');
  return outcome;
}

function onlyCall(received: readonly Received[]): Received {
  const [call] = received;
  if (call === undefined || received.length > 1) throw new Error('There was not exactly one call.');
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
  return { folder, file, sender: smsSenderFor({ sender: 'file', file }, new SystemClock()) };
}

describe('console sender', () => {
  it('writes one readable line per message', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await smsSenderFor({ sender: 'console' }, new SystemClock()).send(MESSAGE);
    const written = write.mock.calls.map(([chunk]) => chunk);
    write.mockRestore();
    expect(written).toEqual(['SMS to +14155552671: Ваш код & code: 123456 @example.com #123456\n']);
  });
});

describe('file sender', () => {
  it('appends one JSON line per message, also when many are sent at once', async () => {
    const { file, sender } = await fileSender();
    const texts = Array.from({ length: 20 }, (_, index) => `${MESSAGE.text} ${index}`);
    await sender.send(MESSAGE);
    await Promise.all(texts.map((text) => sender.send({ ...MESSAGE, text })));

    const [first, ...others] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(first).toBe(JSON.stringify({ to: MESSAGE.to, text: MESSAGE.text }));
    const expected = texts.map((text) => JSON.stringify({ to: MESSAGE.to, text }));
    expect(others.toSorted()).toEqual(expected.toSorted());
  });

  it('makes a file that only its owner can read', async () => {
    const { file, sender } = await fileSender();
    await sender.send(MESSAGE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('rejects when the line cannot be written', async () => {
    const { folder } = await fileSender();
    const sender = smsSenderFor({ sender: 'file', file: folder }, new SystemClock());
    await expect(sender.send(MESSAGE)).rejects.toThrow('EISDIR');
  });
});

describe('webhook sender', () => {
  it('posts the message as JSON with a signature that verifies', async () => {
    const { url, received } = await gateway([status(204)]);
    await webhook(url).send(MESSAGE);

    const call = onlyCall(received);
    expect(call).toMatchObject({ method: 'POST', path: '/sms?tenant=7' });
    expect(call.headers['content-type']).toBe('application/json');
    expect(JSON.parse(call.body)).toEqual({ to: MESSAGE.to, text: MESSAGE.text });
    expect(call.headers['webhook-timestamp']).toBe(
      String(Date.parse('2026-03-01T12:00:07Z') / 1000),
    );
    expect(call.headers['webhook-signature']).toBe(signatureOf(call, Buffer.from(SECRET)));
  });

  it('decodes the key of a secret that starts with whsec_', async () => {
    const { url, received } = await gateway([status(200)]);
    const key = Buffer.from([...Array.from({ length: 24 }).keys()].map((byte) => byte + 200));
    await webhook(url, { secret: `whsec_${key.toString('base64')}` }).send(MESSAGE);
    const call = onlyCall(received);
    expect(call.headers['webhook-signature']).toBe(signatureOf(call, key));
  });

  it('refuses a secret whose key would be too short to protect anything', () => {
    expect(() => webhook('http://127.0.0.1', { secret: 'whsec_!!!!!!!!!!!!' })).toThrow(
      'SMS_WEBHOOK_SECRET',
    );
  });

  it('keeps the id over all tries of a message and signs each try at its own time', async () => {
    const { url, received } = await gateway([status(500), hangUp, status(202)]);
    await webhook(url).send(MESSAGE);

    expect(received).toHaveLength(3);
    expect(idsOf(received)).toEqual([MESSAGE.id, MESSAGE.id, MESSAGE.id]);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
    for (const call of received) {
      expect(call.headers['webhook-signature']).toBe(signatureOf(call, Buffer.from(SECRET)));
    }
  });

  it('keeps the id when the same message is sent again, and has another for another message', async () => {
    const { url, received } = await gateway([status(200)]);
    const sender = webhook(url);
    await sender.send(MESSAGE);
    await sender.send(MESSAGE);
    await sender.send({ ...MESSAGE, id: 'another' });
    expect(idsOf(received)).toEqual([MESSAGE.id, MESSAGE.id, 'another']);
  });

  it('tries again after a timeout', async () => {
    const { url, received } = await gateway([silence, status(200)]);
    await webhook(url, { timeoutMs: 250 }).send(MESSAGE);
    expect(received).toHaveLength(2);
  });

  it('waits as long as a short Retry-After asks', async () => {
    const { url, received } = await gateway([status(429, { 'retry-after': '1' }), status(200)]);
    const start = performance.now();
    await webhook(url).send(MESSAGE);
    expect(performance.now() - start).toBeGreaterThan(950);
    expect(received).toHaveLength(2);
  });

  it('fails at once when Retry-After asks for more than five seconds', async () => {
    const { url, received } = await gateway([status(503, { 'retry-after': '6' })]);
    const { fault, mayRepeat } = await failureOf(webhook(url).send(MESSAGE));
    expect(fault).toEqual({ kind: 'status', status: 503, retryAfterMs: 6000 });
    expect(mayRepeat).toBe(true);
    expect(received).toHaveLength(1);
  });

  it('gives up after three tries and names the last fault', async () => {
    const { url, received } = await gateway([status(500), status(500), status(502), status(200)]);
    const { message, mayRepeat } = await failureOf(webhook(url).send(MESSAGE));
    expect(message).toBe('The SMS gateway answered 502.');
    expect(mayRepeat).toBe(true);
    expect(received).toHaveLength(3);
  });

  it.each([400, 401, 404, 408, 410])('does not try again after %i', async (code) => {
    const { url, received } = await gateway([status(code), status(200)]);
    const { message, mayRepeat } = await failureOf(webhook(url).send(MESSAGE));
    expect(message).toBe(`The SMS gateway answered ${code}.`);
    expect(mayRepeat).toBe(false);
    expect(received).toHaveLength(1);
  });

  it.each([302, 307])('does not follow a redirect with %i', async (code) => {
    const elsewhere = await gateway([status(200)]);
    const { url, received } = await gateway([status(code, { location: elsewhere.url })]);
    const { message } = await failureOf(webhook(url).send(MESSAGE));
    expect(message).toBe(`The SMS gateway answered ${code}.`);
    expect(received).toHaveLength(1);
    expect(elsewhere.received).toEqual([]);
  });

  it('counts a message as taken when the connection breaks after a 200', async () => {
    const { url, received } = await gateway([takenThenBroken]);
    await webhook(url).send(MESSAGE);
    expect(received).toHaveLength(1);
  });
});

describe('twilio sender', () => {
  it('posts a form to the messages of the account with Basic authentication', async () => {
    const { url, received } = await gateway([status(201)]);
    await twilio(url).send(MESSAGE);

    const call = onlyCall(received);
    expect(call).toMatchObject({
      method: 'POST',
      path: `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`,
    });
    expect(call.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded\b/);
    expect(call.headers.authorization).toBe(`Basic ${btoa(`${ACCOUNT}:${TOKEN}`)}`);
    expect(Object.fromEntries(new URLSearchParams(call.body))).toEqual({
      To: MESSAGE.to,
      Body: MESSAGE.text,
      From: '+15005550006',
    });
  });

  it('names the messaging service when the sender starts with MG', async () => {
    const { url, received } = await gateway([status(201)]);
    await twilio(url, { from: 'MG0123456789' }).send(MESSAGE);
    expect(Object.fromEntries(new URLSearchParams(onlyCall(received).body))).toEqual({
      To: MESSAGE.to,
      Body: MESSAGE.text,
      MessagingServiceSid: 'MG0123456789',
    });
  });

  it('tries again after 429 and 503', async () => {
    const { url, received } = await gateway([status(429), status(503), status(201)]);
    await twilio(url).send(MESSAGE);
    expect(received).toHaveLength(3);
  });

  it('tries again after a refused connection', async () => {
    const port = await closedPort();
    const sending = twilio(`http://127.0.0.1:${port}`).send(MESSAGE);
    await wait(50);
    const { received } = await gateway([status(201)], port);
    await sending;
    expect(received).toHaveLength(1);
  });

  it('does not try again after a timeout, since the message may be on its way', async () => {
    const { url, received } = await gateway([silence, status(201)]);
    const { fault, mayRepeat } = await failureOf(twilio(url, { timeoutMs: 250 }).send(MESSAGE));
    expect(fault).toEqual({ kind: 'timeout' });
    expect(mayRepeat).toBe(false);
    expect(received).toHaveLength(1);
  });

  it.each([
    ['a connection that breaks off', hangUp, 'connection'],
    ['500', status(500), 'status'],
    ['502', status(502), 'status'],
    ['400', status(400), 'status'],
  ])('does not try again after %s', async (_, answer, kind) => {
    const { url, received } = await gateway([answer, status(201)]);
    const { fault } = await failureOf(twilio(url).send(MESSAGE));
    expect(fault.kind).toBe(kind);
    expect(received).toHaveLength(1);
  });
});

describe('error of a sender', () => {
  it('has no phone number, text, secret or address, whatever the fault', async () => {
    const answers = [status(400), silence, hangUp];
    const gateways = await Promise.all(answers.map((answer) => gateway([answer])));
    const errors = await Promise.all([
      failureOf(webhook('http://user:password@127.0.0.1:9').send(MESSAGE)),
      ...gateways.flatMap(({ url }) => [
        failureOf(webhook(url, { timeoutMs: 150 }).send(MESSAGE)),
        failureOf(twilio(url, { timeoutMs: 150 }).send(MESSAGE)),
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
