import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { NO_IDENTITY } from '../../../src/modules/oauth/clients/registration-values.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import type { Site } from '../../support/browser.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { PUBLIC_URL, type Unprivileged } from './unprivileged-service.js';

/** Number of users in a file, enough to exceed the page cache of SQLite. */
export const USERS_PER_FILE = byExtent({ whole: 4000, quick: 2000 });
/** Two primes: the phones of consecutive users are far apart, and no two users have the same phone. */
const STEP = 48_271;
const PHONE_NUMBERS = 7_999_993;
const REDIRECT_URI = 'https://garden.example/callback';

/** Imports a generated file, whose phones are unordered and differ from those of files with another number. Returns the phones. */
export async function importUsers(service: Unprivileged, fileNumber: number): Promise<string[]> {
  const phones = Array.from({ length: USERS_PER_FILE }, (_, number) => {
    const place = (fileNumber * USERS_PER_FILE + number) * STEP;
    return `+1415${2_000_000 + (place % PHONE_NUMBERS)}`;
  });
  const lines = phones.map((phone, number) => `${phone},Person ${number}`);
  const printed = await service.command(
    ['user', 'import', '-', '--format', 'csv', '--json'],
    ['phone,name', ...lines, ''].join('\n'),
  );
  expect(JSON.parse(printed)).toMatchObject({ added: USERS_PER_FILE, invalid: 0 });
  return phones;
}

/** Registers an app. */
export async function registerApp(service: Unprivileged): Promise<TestClient> {
  const words = ['--name', 'Garden Share', '--allow-similar-name', '--redirect-uri', REDIRECT_URI];
  const printed = await service.command([
    ...['app', 'create', ...words, '--scope', SCOPES.join(' '), '--json'],
  ]);
  const { client_id: clientId, client_secret: secret } = JSON.parse(printed) as Record<
    string,
    string
  >;
  return {
    clientId: clientId ?? '',
    secret,
    name: 'Garden Share',
    kind: 'confidential',
    redirectUris: [REDIRECT_URI],
    origins: [],
    scopes: [...SCOPES],
    enabled: true,
    postsHidden: false,
    requiresPkce: false,
    reference: null,
    ...NO_IDENTITY,
    test: false,
    accessTokenSeconds: null,
    createdAt: new Date(),
  };
}

/** The user with this phone signs in, allows the app all scopes and publishes through it. */
export async function publishFor(
  { baseUrl, folder }: Unprivileged,
  app: TestClient,
  phone = '',
): Promise<void> {
  const messages = async (): Promise<string[]> => {
    const text = await readFile(join(folder, 'data', 'sms.jsonl'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line.includes(phone));
  };
  const site: Site = {
    baseUrl: PUBLIC_URL,
    fetch: (path, init) => fetch(new URL(path, baseUrl), { redirect: 'manual', ...init }),
    sms: {
      count: async () => (await messages()).length,
      password: async () => {
        await expect.poll(messages, { timeout: 10_000 }).not.toEqual([]);
        return /\b\d{6}\b/.exec((await messages()).at(-1)?.replace(phone, '') ?? '')?.[0] ?? '';
      },
    },
  };
  const code = (await approve(site, { phone } as UserWithPhone, app)).get('code') ?? '';
  const { access_token: token } = await json<TokenBody>(await exchange(site, app, code));
  const published = await site.fetch('/dev/v1/posts', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Hello, neighbours' }),
  });
  expect(published.status).toBe(201);
}
