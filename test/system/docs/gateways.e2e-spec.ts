import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { SystemClock } from '../../../src/platform/clock.js';
import { SmsQueue } from '../../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { createSmsSender } from '../../../src/modules/oauth/sign-in/sms/sms-senders.js';
import { Browser } from '../../support/browser.js';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { findProgram } from '../../support/programs.js';
import { RecordingServer } from '../../support/recording-server.js';
import { expectConsentPage, submitPhone, VERIFY } from '../../support/sign-in.js';
import { TestApp } from '../../support/test-app.js';

const TIMEOUT_MS = 120_000;
const SECRET = `whsec_${Buffer.from('a key of exactly thirty-two byte').toString('base64')}`;
/** As docs recommended it before: the output of `openssl rand -hex 32`. */
const OLD_SECRET = '5f0c6f3f0a3d1f0e9b1d7f5b5c2e4a6d8f0b1c3e5a7092b4d6f8e0a1c3b5d7f9';
/** What docs say how to give that secret to a library. */
const OLD_SECRET_FOR_LIBRARIES = `whsec_${Buffer.from(OLD_SECRET).toString('base64')}`;
const MESSAGE = {
  id: '8a5f2c1e-4b7d-4e21-9c3a-6f0d1b2e3a4c',
  to: '+14155552671',
  text: '123456 es el código de “León” 😀\n\n@example.com #123456',
};

interface SignedRequest {
  secret: string;
  /** With lower-case names. */
  headers: Record<string, string>;
  body: string;
}

/** Writes the blocks of docs/gateways.md with these names as files. */
async function writeSamples(folder: string, ...names: string[]): Promise<void> {
  const page = await readFile('docs/gateways.md', 'utf8');
  for (const name of names) {
    const [, sample] = new RegExp(`^\`\`\`\\w+ ${name}\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
    if (sample === undefined) throw new Error(`docs/gateways.md has no block ${name}.`);
    await writeFile(join(folder, name), sample);
  }
}

/** Sends a message with the sender of the service, and returns its request. */
async function requestOfService(secret: string): Promise<SignedRequest> {
  const gateway = await RecordingServer.open();
  const config = { sender: 'webhook', url: gateway.url, secret, timeoutMs: 5000 } as const;
  await createSmsSender(config, new SystemClock()).send(MESSAGE, new Date());
  await gateway.close();
  const [request] = gateway.requests;
  const named = Object.entries(request?.headers ?? {}).filter(([name]) =>
    name.startsWith('webhook-'),
  );
  return {
    secret,
    headers: Object.fromEntries(named) as Record<string, string>,
    body: String(request?.body),
  };
}

function requestOfLibrary(secret: string, at = new Date()): SignedRequest {
  const body = JSON.stringify({ to: MESSAGE.to, text: MESSAGE.text });
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
  return { secret, headers, body };
}

const withHeader = (
  { headers, ...request }: SignedRequest,
  name: string,
  value: string,
): SignedRequest => ({ ...request, headers: { ...headers, [`webhook-${name}`]: value } });

function without(request: SignedRequest, name: string): SignedRequest {
  const headers = { ...request.headers };
  delete headers[`webhook-${name}`];
  return { ...request, headers };
}

const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

/** Requests, and whether a verifier must accept them. */
async function cases(): Promise<[name: string, request: SignedRequest, isAuthentic: boolean][]> {
  const own = await requestOfService(SECRET);
  const old = await requestOfService(OLD_SECRET);
  const { 'webhook-signature': signature = '' } = own.headers;
  const other = requestOfLibrary(`whsec_${btoa('another key of the same length!!')}`);
  const unsignedKey = createHmac('sha256', '')
    .update(`${own.headers['webhook-id']}.${own.headers['webhook-timestamp']}.${own.body}`)
    .digest('base64');
  return [
    ['of the service', own, true],
    ['of the service, with a secret of the old form', old, true],
    ['of the library', requestOfLibrary(SECRET), true],
    ['four minutes old', requestOfLibrary(SECRET, minutesAgo(4)), true],
    ['two signatures', withHeader(own, 'signature', `v1,AAAA ${signature}`), true],
    ['of another key', { ...other, secret: SECRET }, false],
    ['the secret of the old form as base64', { ...requestOfLibrary(OLD_SECRET) }, false],
    ['signed with an empty key', withHeader(own, 'signature', `v1,${unsignedKey}`), false],
    ['another body', { ...own, body: own.body.replace('2671', '2672') }, false],
    ['another id', withHeader(own, 'id', 'msg_2'), false],
    [
      'another time',
      withHeader(own, 'timestamp', String(Number(own.headers['webhook-timestamp']) - 1)),
      false,
    ],
    ['six minutes old', requestOfLibrary(SECRET, minutesAgo(6)), false],
    ['of the future', requestOfLibrary(SECRET, minutesAgo(-6)), false],
    ['another version', withHeader(own, 'signature', signature.replace('v1', 'v2')), false],
    ['an empty signature', withHeader(own, 'signature', ''), false],
    ['no time', withHeader(own, 'timestamp', ''), false],
    ['a time that is no number', withHeader(own, 'timestamp', 'now'), false],
    ['no signature', without(own, 'signature'), false],
    ['no timestamp', without(own, 'timestamp'), false],
    ['no id', without(own, 'id'), false],
  ];
}

/** Programs that read a JSON array of requests, and write one of booleans. */
const PROGRAMS = {
  JavaScript: {
    interpreters: ['node'],
    sample: 'verify.mjs',
    harness: 'main.mjs',
    source: `
import { text } from 'node:stream/consumers';
import { isAuthentic } from './verify.mjs';
const requests = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(requests.map((one) => isAuthentic(one.secret, one.headers, one.body))));`,
    command: ['main.mjs'],
  },
  Python: {
    interpreters: ['python3'],
    sample: 'verify.py',
    harness: 'main.py',
    source: `
import json, sys
from verify import is_authentic
requests = json.loads(sys.stdin.buffer.read())
print(json.dumps([is_authentic(one["secret"], one["headers"], one["body"].encode()) for one in requests]))`,
    command: ['main.py'],
  },
  Go: {
    interpreters: ['go'],
    sample: 'verify.go',
    harness: 'main.go',
    source: `
package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	var requests []struct {
		Secret  string
		Headers map[string]string
		Body    string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, one := range requests {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		results = append(results, isAuthentic(one.Secret, header, []byte(one.Body)))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}`,
    command: ['run', 'main.go', 'verify.go'],
  },
};

/** Runs a program in a folder with this input. Returns its output. */
async function run(
  program: string,
  args: readonly string[],
  { cwd, input }: { cwd: string; input: string },
): Promise<string> {
  const child = spawn(program, args, { cwd, env: { ...process.env, GO111MODULE: 'off' } });
  child.stdin.end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(errors);
  return output;
}

describe('Webhook of docs/gateways.md', () => {
  const folder = useFolder();

  it('is verified by the library of Standard Webhooks, with a secret of either form', async () => {
    const body = { to: MESSAGE.to, text: MESSAGE.text };
    const own = await requestOfService(SECRET);
    expect(new Webhook(SECRET).verify(own.body, own.headers)).toEqual(body);
    const old = await requestOfService(OLD_SECRET);
    const { headers } = old;
    expect(() => new Webhook(OLD_SECRET).verify(old.body, headers)).toThrow(
      'No matching signature',
    );
    expect(new Webhook(OLD_SECRET_FOR_LIBRARIES).verify(old.body, headers)).toEqual(body);
    expect(new Webhook(OLD_SECRET, { format: 'raw' }).verify(old.body, headers)).toEqual(body);
  });

  for (const [language, { interpreters, sample, harness, source, command }] of Object.entries(
    PROGRAMS,
  ))
    it(
      `is verified by the function in ${language}`,
      async ({ skip }) => {
        const program = await findProgram(...interpreters);
        if (program === undefined && process.env.CI === 'true')
          throw new Error(`CI needs ${interpreters[0]} for the verifiers: install it.`);
        if (program === undefined) return skip();
        await writeSamples(folder, sample);
        await writeFile(join(folder, harness), source);
        const all = await cases();
        const input = JSON.stringify(all.map(([, request]) => request));
        const results = JSON.parse(
          await run(program, command, { cwd: folder, input }),
        ) as boolean[];
        expect(results.map((result, index) => [all[index]?.[0], result])).toEqual(
          all.map(([name, , isAuthentic]) => [name, isAuthentic]),
        );
      },
      TIMEOUT_MS,
    );
});

onOneEngine('Kannel of docs/gateways.md', (database) => {
  const folder = useFolder();
  let kannel: RecordingServer;
  let respond: (response: ServerResponse) => void;
  let adapter: ReturnType<typeof spawn>;
  let app: TestApp;
  let url: string;

  const accept = (response: ServerResponse): void => {
    response.writeHead(202).end('0: Accepted for delivery');
  };

  beforeAll(async () => {
    kannel = await RecordingServer.open({ respond: (response) => respond(response) });
    await writeSamples(folder, 'verify.mjs', 'kannel.mjs');
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}/`;
    const sendsms = `${kannel.url}/cgi-bin/sendsms?username=platform&password=secret&from=12345`;
    adapter = spawn(process.execPath, ['kannel.mjs'], {
      cwd: folder,
      env: { SECRET, PORT: port, KANNEL_URL: sendsms },
      stdio: 'inherit',
    });
    // Without a signature.
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(401), 10_000);
    const webhook = { SMS_SENDER: 'webhook', SMS_WEBHOOK_URL: url, SMS_WEBHOOK_SECRET: SECRET };
    app = await TestApp.start(database, webhook);
    // The adapter rejects old requests.
    app.clock.set(new Date().toISOString());
  });
  afterAll(async () => {
    await app?.stop();
    adapter?.kill();
    await kannel?.close();
  });
  beforeEach(() => {
    kannel.requests.length = 0;
    respond = accept;
  });

  /** The parameters of the requests to Kannel. */
  const queries = (): Record<string, string>[] =>
    kannel.requests.map(({ path }) =>
      Object.fromEntries(new URL(path, 'http://kannel.example').searchParams),
    );

  async function post({ headers, body }: SignedRequest): Promise<number> {
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  it('gets a code from the service that signs in', async () => {
    const user = await app.addUser();
    const visitor = new Browser(app);
    const page = await submitPhone(visitor, authorizeLink(await app.addClient()), user.phone);
    await app.service(SmsQueue).idle();
    const [query] = queries();
    expect(query).toEqual({
      ...{ username: 'platform', password: 'secret', from: '12345' },
      ...{ to: user.phone, text: expect.stringMatching(/^\d{6} /), validity: '5' },
    });
    const code = query?.text?.slice(0, 6) ?? '';
    expectConsentPage(await visitor.submit(page, VERIFY, { code }));
  });

  it('gets a text outside GSM 03.38 as UCS-2, and each message once', async () => {
    const request = await requestOfService(SECRET);
    expect([await post(request), await post(request)]).toEqual([202, 202]);
    expect(queries()).toEqual([
      expect.objectContaining({ text: MESSAGE.text, coding: '2', charset: 'UTF-8' }),
    ]);
  });

  it('gets a message again that it refused, and nothing that is forged', async () => {
    respond = (response) => response.writeHead(503).end();
    const request = requestOfLibrary(SECRET);
    expect(await post(request)).toBe(503);
    respond = accept;
    expect(await post(request)).toBe(202);
    expect(await post({ ...requestOfLibrary(OLD_SECRET_FOR_LIBRARIES) })).toBe(401);
    expect(queries()).toHaveLength(2);
  });
});
