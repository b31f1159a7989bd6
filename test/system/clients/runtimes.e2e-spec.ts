import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { SECRET, signed } from '../../support/signed-events.js';
import { useTestApp } from '../../support/test-app.js';

const run = promisify(execFile);
const CODE = '424242';
const REDIRECT_URI = 'http://localhost:8080/callback';
const SCOPES = ['profile.read', 'posts.read', 'posts.write', 'analytics.read'];

/** Packages of the runtimes, and how each runs a program. Node is downloaded by a script of its package. */
const RUNTIMES = [
  {
    name: 'Node 20',
    install: 'node-20@npm:node@20.20.2',
    command: ['node_modules/node-20/bin/node'],
  },
  {
    name: 'Node 24',
    install: 'node-24@npm:node@24.21.0',
    command: ['node_modules/node-24/bin/node'],
  },
  {
    name: 'Node 26',
    install: 'node-26@npm:node@26.10.0',
    command: ['node_modules/node-26/bin/node'],
  },
  { name: 'Bun', install: 'bun@1.4.5', command: ['node_modules/bun/bin/bun.exe'] },
  {
    name: 'Deno',
    install: 'deno@2.9.6',
    command: ['node_modules/deno/deno', 'run', '--allow-net', '--allow-env'],
  },
] as const;

/** What the program `runtimes/flow.js` prints. */
const SEEN = {
  scopes: SCOPES,
  forgedState: ['CallbackError', 'state', null],
  codeAgain: ['OAuthError', 'invalid_grant', null],
  name: 'Ana Lee',
  isSamePost: true,
  otherBody: ['ApiError', 'idempotency_key_reused', null],
  lostResponse: { requests: 2, keys: 1 },
  unavailable: { requests: 2 },
  hasListed: [true, true],
  hasAnalytics: true,
  used: 2,
  refreshes: 1,
  hasNewTokens: [true, true],
  notFound: ['ApiError', 'not_found', null],
  invalid: ['ApiError', 'invalid_request', 'content'],
  aborted: ['AbortError', 20, null],
  timedOut: ['NoResponseError', null, null],
  refused: ['NoResponseError', null, null],
  deleted: ['ApiError', 'not_found', null],
  disconnected: ['AuthorizationRequiredError', null, null],
  event: 'comment.created',
  forgedEvent: ['WebhookError', 'webhook-signature', null],
};

onOneEngine('TypeScript client in other runtimes', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();

  beforeAll(async () => {
    await cp(join(import.meta.dirname, 'runtimes'), folder, { recursive: true });
    const packages = RUNTIMES.map(({ install }) => install);
    const client = `${app().baseUrl}/docs/client.tgz`;
    await run('npm', ['install', '--no-audit', '--no-fund', client, ...packages], { cwd: folder });
  }, 300_000);

  it.for(RUNTIMES)(
    '$name authorizes, refreshes once, retries, verifies events, and reports errors as in every other runtime',
    { timeout: 60_000 },
    async ({ command: [program, ...options] }) => {
      const { phone } = await app().addUser({ name: 'Ana Lee', testCode: CODE });
      const { clientId, secret } = await app().addClient({
        redirectUris: [REDIRECT_URI],
        test: true,
      });
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        ISSUER: app().baseUrl,
        CLIENT_ID: clientId,
        CLIENT_SECRET: secret,
        REDIRECT_URI,
        PHONE: phone,
        CODE,
        EVENT: JSON.stringify(signed(Date.now())),
        WEBHOOK_SECRET: SECRET,
      };
      const { stdout } = await run(join(folder, program), [...options, 'flow.js'], {
        cwd: folder,
        env,
      });
      expect(JSON.parse(stdout)).toEqual(SEEN);
    },
  );
});
