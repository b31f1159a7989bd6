import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { Clock, addMilliseconds, SECOND } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import { FixedClock } from '../../../../../test/support/doubles.js';
import { GatewayError, createSmsSender, type SmsSender } from './sms-senders.js';

const MESSAGE = {
  id: '8a5f2c1e-4b7d-4e21-9c3a-6f0d1b2e3a4c',
  to: '+14155552671',
  text: 'Ваш код & code: 123456\n\n@example.com #123456',
};
const SECRET = 'a webhook secret of some length';
const ACCOUNT = 'AC0123456789';
/** Five minutes after the time of `FixedClock`. */
const EXPIRES_AT = new Date('2026-11-21T09:35:00.000Z');
const TOKEN = 'twilio-auth-token';

type Respond = (response: ServerResponse) => void;

interface Received {
  method?: string;
  path?: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** With an unreadable body, as of a proxy. */
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
      username: ACCOUNT,
      password: TOKEN,
      from: '+15005550006',
      timeoutMs: 3000,
      ...options,
    },
    new FixedClock(),
  );
}

/** A response of Twilio. */
const json =
  (code: number, body: object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const QUEUED = json(201, { sid: 'SM1', status: 'queued', error_code: null });

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

describe('Webhook sender', () => {
  const key = Buffer.from([...Array.from({ length: 24 }).keys()].map((byte) => byte + 200));
  it.each([
    ['a text', SECRET, Buffer.from(SECRET)],
    ['a base64 key after whsec_', `whsec_${key.toString('base64')}`, key],
  ])('posts the message as JSON, signed with the secret: %s', async (_, secret, signingKey) => {
    const { url, received } = await gateway([status(204)]);
    await webhook(url, { secret }).send(MESSAGE, EXPIRES_AT);
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
    const failures = [
      await failureOf(sender.send(MESSAGE, EXPIRES_AT)),
      await failureOf(sender.send(MESSAGE, EXPIRES_AT)),
    ];
    expect(failures.map(({ mayRetry }) => mayRetry)).toEqual([true, true]);
    await sender.send(MESSAGE, EXPIRES_AT);
    await sender.send({ ...MESSAGE, id: 'another' }, EXPIRES_AT);
    expect(idsOf(received)).toEqual([MESSAGE.id, MESSAGE.id, MESSAGE.id, 'another']);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(4);
    for (const call of received) {
      expect(call.headers['webhook-signature']).toBe(signatureOf(call, Buffer.from(SECRET)));
    }
  });

  it('allows a retry after a timeout', async () => {
    const { url } = await gateway([silence]);
    const { fault, mayRetry } = await failureOf(
      webhook(url, { timeoutMs: 100 }).send(MESSAGE, EXPIRES_AT),
    );
    expect([fault, mayRetry]).toEqual([{ kind: 'timeout', wasSent: true }, true]);
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
      const { message, fault, mayRetry } = await failureOf(webhook(url).send(MESSAGE, EXPIRES_AT));
      expect(message).toBe(`The SMS gateway returned ${code}.`);
      expect(fault).toEqual({ kind: 'status', status: code, retryAfter: '60' });
      expect(mayRetry).toBe(allowed);
      expect(received).toHaveLength(1);
    },
  );

  it.each([302, 307])('does not follow a redirect with %i', async (code) => {
    const elsewhere = await gateway([status(200)]);
    const { url, received } = await gateway([status(code, { location: elsewhere.url })]);
    const { message } = await failureOf(webhook(url).send(MESSAGE, EXPIRES_AT));
    expect(message).toBe(`The SMS gateway returned ${code}.`);
    expect(received).toHaveLength(1);
    expect(elsewhere.received).toEqual([]);
  });

  it('treats a message as accepted when the connection breaks after a 200', async () => {
    const { url, received } = await gateway([acceptThenBreak]);
    await webhook(url).send(MESSAGE, EXPIRES_AT);
    expect(received).toHaveLength(1);
  });
});

describe('Twilio sender', () => {
  const service = 'MG0123456789abcdefABCDEF0123456789';
  it.each([
    ['From', '+15005550006'],
    ['MessagingServiceSid', service],
    // A name, although it begins with MG.
    ['From', 'MGBank'],
  ])(
    'posts a form to the account with Basic authentication, the lifetime of the password, and %s=%s',
    async (name, from) => {
      const { url, received } = await gateway([QUEUED]);
      await twilio(url, { from }).send(MESSAGE, EXPIRES_AT);
      const call = onlyCall(received);
      const path = `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`;
      expect(call).toMatchObject({ method: 'POST', path });
      expect(call.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded\b/);
      expect(call.headers.authorization).toBe(`Basic ${btoa(`${ACCOUNT}:${TOKEN}`)}`);
      expect(Object.fromEntries(new URLSearchParams(call.body))).toEqual({
        To: MESSAGE.to,
        Body: MESSAGE.text,
        ValidityPeriod: '300',
        [name]: from,
      });
    },
  );

  it('posts to the account with the credentials of an API key', async () => {
    const { url, received } = await gateway([QUEUED]);
    const key = { username: 'SK1', password: 'secret' };
    await twilio(url, key).send(MESSAGE, EXPIRES_AT);
    const { path, headers } = onlyCall(received);
    expect(path).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Messages.json`);
    expect(headers.authorization).toBe(`Basic ${btoa('SK1:secret')}`);
  });

  it.each([
    [new Date('2026-11-21T09:30:00.001Z'), '1'],
    [new Date('2026-11-21T09:29:00.000Z'), '1'],
    [new Date('2026-11-21T09:34:29.100Z'), '270'],
  ])('asks for a message that expires at %s with ValidityPeriod=%s', async (expiresAt, seconds) => {
    const { url, received } = await gateway([QUEUED]);
    await twilio(url).send(MESSAGE, expiresAt);
    expect(new URLSearchParams(onlyCall(received).body).get('ValidityPeriod')).toBe(seconds);
  });

  it.each(['queued', 'accepted', 'sending', 'sent', 'scheduled', 'delivered'])(
    'accepts 201 with the state %s',
    async (state) => {
      const { url } = await gateway([json(201, { status: state, error_code: null })]);
      await expect(twilio(url).send(MESSAGE, EXPIRES_AT)).resolves.toBeUndefined();
    },
  );

  it.each([
    ['an unknown name', 'http://sms.invalid'],
    ['a refused connection', undefined],
  ])('allows a retry after %s, because nothing was sent', async (_, url) => {
    const sender = twilio(url ?? `http://127.0.0.1:${await closedPort()}`);
    const { fault, mayRetry, metricCode, details } = await failureOf(
      sender.send(MESSAGE, EXPIRES_AT),
    );
    expect([fault.kind, mayRetry, metricCode]).toEqual(['connection', true, 'connection']);
    expect(details).toEqual({
      failure: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED)$/),
    });
  });

  it('allows a retry if the timeout comes before the connection is complete', async () => {
    // A server that accepts the TCP connection and never completes the TLS handshake.
    const server = createTcpServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const sender = twilio(`https://127.0.0.1:${port}`, { timeoutMs: 200 });
    const { fault, mayRetry } = await failureOf(sender.send(MESSAGE, EXPIRES_AT));
    server.close();
    expect([fault, mayRetry]).toEqual([{ kind: 'timeout', wasSent: false }, true]);
  });

  const error = (code: number): object => ({ code, message: `To ${MESSAGE.to}`, status: 400 });
  it.each([
    ['429', status(429), 'status', true],
    ['503', status(503), 'status', true],
    ['20429', json(429, error(20429), { 'retry-after': '7' }), 'status', true],
    ['the daily limit (63038)', json(429, error(63038)), 'status', false],
    ['a timeout, because the gateway may have accepted the message', silence, 'timeout', false],
    ['a broken connection', hangUp, 'connection', false],
    ['500', status(500), 'status', false],
    ['502', status(502), 'status', false],
    ['408', status(408), 'status', false],
    ['400', status(400), 'status', false],
    ['21610', json(400, error(21610)), 'status', false],
    ['an unknown code', json(400, error(21999)), 'status', false],
    ['a failed message', json(201, { status: 'failed', error_code: 30008 }), 'status', false],
    ['a captive page', status(200), 'status', false],
  ] as const)('makes one attempt, and allows a retry or not: %s', async (_, respond, kind, may) => {
    const { url, received } = await gateway([respond, QUEUED]);
    const timeoutMs = kind === 'timeout' ? 100 : 3000;
    const { fault, mayRetry } = await failureOf(
      twilio(url, { timeoutMs }).send(MESSAGE, EXPIRES_AT),
    );
    expect([fault.kind, mayRetry]).toEqual([kind, may]);
    expect(received).toHaveLength(1);
  });

  const html: Respond = (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome to our Wi-Fi</h1>');
  it.each<[string, Respond, string, object, string]>([
    [
      'a code of the table',
      json(400, error(21610)),
      'returned 400 with code 21610: the recipient opted out, for example by replying STOP.',
      { status: 400, code: 21610 },
      '21610',
    ],
    [
      'an unknown code',
      json(400, error(21999)),
      'returned 400 with code 21999.',
      { status: 400, code: 21999 },
      '400',
    ],
    ['no code', json(400, {}), 'returned 400.', { status: 400 }, '400'],
    [
      'a text instead of a code',
      json(400, { code: `21610 ${MESSAGE.to}` }),
      'returned 400.',
      { status: 400 },
      '400',
    ],
    [
      'a failed message',
      json(201, { status: 'failed', error_code: 30005 }),
      'returned 201 with the state failed and code 30005: the number of the recipient does not exist.',
      { status: 201, code: 30005 },
      '30005',
    ],
    [
      'a failed message without a code',
      json(201, { status: 'undelivered', error_code: null }),
      'returned 201 with the state undelivered.',
      { status: 201 },
      '201',
    ],
    [
      'a captive page',
      html,
      'returned 200 without the state of a message.',
      { status: 200 },
      '200',
    ],
    [
      '201 that breaks off',
      (response) => {
        response.writeHead(201, { 'content-length': '1000' });
        response.write('{"status":"que', () => response.destroy());
      },
      'returned 201 without the state of a message.',
      { status: 201 },
      '201',
    ],
    [
      '200 with a state',
      json(200, { status: 'queued' }),
      'returned 200 without the state of a message.',
      { status: 200 },
      '200',
    ],
    ['null', json(201, []), 'returned 201 without the state of a message.', { status: 201 }, '201'],
  ])('names the code in message, audit details and metric: %s', async (_, respond, ...expected) => {
    const { url } = await gateway([respond]);
    const { message, details, metricCode } = await failureOf(twilio(url).send(MESSAGE, EXPIRES_AT));
    expect([message, details, metricCode]).toEqual([
      `The SMS gateway ${expected[0]}`,
      ...expected.slice(1),
    ]);
  });

  it('reads no more than 64 KiB of a body', async () => {
    const endless: Respond = (response) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      const more = (): void => {
        if (!response.destroyed && response.write(' '.repeat(10_000))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    const { url } = await gateway([endless]);
    const { message } = await failureOf(twilio(url).send(MESSAGE, EXPIRES_AT));
    expect(message).toBe('The SMS gateway returned 201 without the state of a message.');
  });
});

describe('Error of a sender', () => {
  it('contains no phone number, text, secret or address for any kind of fault', async () => {
    const responses = [status(400), silence, hangUp];
    const gateways = await Promise.all(responses.map((respond) => gateway([respond])));
    const errors = await Promise.all([
      failureOf(webhook('http://user:password@127.0.0.1:9').send(MESSAGE, EXPIRES_AT)),
      ...gateways.flatMap(({ url }, index) => {
        const options = responses[index] === silence ? { timeoutMs: 100 } : {};
        return [
          failureOf(webhook(url, options).send(MESSAGE, EXPIRES_AT)),
          failureOf(twilio(url, options).send(MESSAGE, EXPIRES_AT)),
        ];
      }),
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
