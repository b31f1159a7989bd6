import { join } from 'node:path';
import { Browser } from '../../../support/browser.js';
import { onOneEngine } from '../../../support/database.js';
import { useFolder } from '../../../support/folder.js';
import { freePort } from '../../../support/free-port.js';
import { type TestClient, useTestApp } from '../../../support/test-app.js';
import { forged } from '../decide.js';
import { ClientProcess, type Line } from './client-process.js';
import { buildClients, type Toolchain, type ToolchainName, TOOLCHAINS } from './toolchains.js';

/** Maven downloads for minutes. */
const BUILD_TIMEOUT_MS = 1_200_000;
/** A virtual machine of Java starts in seconds. */
const CLIENT_TIMEOUT_MS = 90_000;

const SCOPES = ['posts.read', 'profile.read'];
const CODE = '424242';

interface Client {
  readonly name: string;
  readonly command: readonly string[];
  /** The path of the redirect URI. */
  readonly callback?: string;
  /** What the client shows after `access_denied`. */
  readonly denied?: string;
  readonly withoutPkce?: boolean;
  readonly withoutRefresh?: boolean;
  readonly withoutRevocation?: boolean;
  /** The library does not tell which scopes the user allowed. */
  readonly withoutScope?: boolean;
  /** A refresh sends the scopes of the configuration, which the service rejects if the user allowed fewer. */
  readonly repeatsScope?: boolean;
  /** The parameters of the redirect that the library compares itself. */
  readonly compares?: readonly string[];
}

const python = (name: string): string[] => ['venv/bin/python', `${name}.py`];
const java = (name: string, ...parameters: string[]): string[] => [
  'java',
  '-cp',
  'target/classes:target/dependency/*',
  `clients.${name}`,
  ...parameters,
];

const CLIENTS: Record<ToolchainName, Client[]> = {
  go: [{ name: 'golang.org/x/oauth2', command: ['./client'], withoutRevocation: true }],
  python: [
    { name: 'httpx-oauth', command: python('httpx_oauth_flow') },
    {
      name: 'requests-oauth2client',
      command: python('requests_oauth2client_flow'),
      compares: ['state', 'iss'],
    },
    {
      name: 'social-auth-core',
      command: python('social_auth_flow'),
      callback: '/complete/neighbourhood/',
      denied: 'AuthCanceled',
      withoutRevocation: true,
      compares: ['state'],
    },
    {
      name: 'django-allauth',
      command: python('allauth_flow'),
      callback: '/accounts/neighbourhood/login/callback/',
      denied: 'cancelled',
      withoutRefresh: true,
      withoutScope: true,
      compares: ['state'],
    },
  ],
  java: [
    { name: 'Nimbus OAuth SDK', command: java('Nimbus') },
    { name: 'ScribeJava', command: java('Scribe') },
    {
      name: 'ScribeJava with a default scope',
      command: java('Scribe', 'default-scope'),
      repeatsScope: true,
    },
    {
      name: 'pac4j',
      command: java('Pac4j'),
      denied: 'no credentials',
      withoutPkce: true,
      withoutRevocation: true,
      repeatsScope: true,
      compares: ['state'],
    },
    {
      name: 'Spring Security',
      command: java('Spring'),
      callback: '/login/oauth2/code/us',
      denied: 'login page',
      withoutRevocation: true,
      compares: ['state'],
    },
  ],
};

/** Libraries that store scopes in a set change their order. */
const sorted = (scope: string): string => scope.split(' ').toSorted().join(' ');

interface Authorization {
  /** The scopes that the user allows; none means that the user declines. */
  allowed?: readonly string[];
  change?: (callbackUrl: URL) => URL;
  parameters?: readonly string[];
  accessTokenSeconds?: number;
}

onOneEngine('OAuth clients in other languages', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();

  describe.each(Object.entries(TOOLCHAINS) as [ToolchainName, Toolchain][])('%s', (name) => {
    const cwd = join(folder, name);
    const clients = CLIENTS[name];
    let missing: string | undefined;

    beforeAll(async () => {
      missing = await buildClients(name, cwd);
    }, BUILD_TIMEOUT_MS);
    beforeEach(({ skip }) => {
      if (missing !== undefined) skip(missing);
    });
    const started: ClientProcess[] = [];
    afterEach(async () => {
      for (const program of started.splice(0)) await program.stop();
    });

    /** Starts a client of a test app, and lets a test member decide. */
    async function authorize(
      { command, callback = '/callback' }: Client,
      {
        allowed = SCOPES,
        change = (url) => url,
        parameters = [],
        accessTokenSeconds = 60,
      }: Authorization = {},
    ): Promise<{ program: ClientProcess; link: string; registered: TestClient }> {
      const redirectUri = `http://127.0.0.1:${await freePort()}${callback}`;
      const registered = await app().addClient({
        redirectUris: [redirectUri],
        test: true,
        accessTokenSeconds,
      });
      const program = ClientProcess.start([...command, ...parameters], cwd, {
        ISSUER: app().baseUrl,
        CLIENT_ID: registered.clientId,
        CLIENT_SECRET: registered.secret ?? '',
        REDIRECT_URI: redirectUri,
      });
      started.push(program);
      const link = (await program.next())?.link ?? '';
      const { phone } = await app().addUser({ testCode: CODE });
      const browser = new Browser(app());
      const consent = await browser.signIn(link, { phone, code: CODE });
      const { location } =
        allowed.length > 0
          ? await browser.allow(consent, allowed)
          : await browser.submit(consent, '/oauth/authorize/decision', { decision: 'deny' });
      program.type(change(new URL(location ?? '')).href);
      return { program, link, registered };
    }

    /** Runs a client to its end. If it cannot revoke its tokens, revokes them. Returns the lines after the link. */
    async function run(client: Client, authorization?: Authorization): Promise<Line[]> {
      const { program, link, registered } = await authorize(client, authorization);
      expect(new URL(link).searchParams.get('code_challenge_method')).toBe(
        client.withoutPkce ? null : 'S256',
      );
      const lines: Line[] = [];
      for (let line = await program.next(); line; line = await program.next()) {
        lines.push(line.scope ? { ...line, scope: sorted(line.scope) } : line);
        if (line.revoked !== false) continue;
        const body = new URLSearchParams({
          client_id: registered.clientId,
          client_secret: registered.secret ?? '',
          token: lines.findLast(({ refresh }) => refresh)?.refresh ?? '',
        });
        expect((await app().fetch('/oauth/revoke', { method: 'POST', body })).status).toBe(200);
        program.type('');
      }
      return lines;
    }

    const tokens = (client: Client, scopes: readonly string[]): unknown => ({
      access: expect.any(String),
      refresh: expect.any(String),
      scope: client.withoutScope ? null : scopes.join(' '),
    });

    /** What a client prints that refreshes twice. */
    const wholeFlow = (client: Client, scopes: readonly string[]): unknown[] => [
      tokens(client, scopes),
      { status: 200 },
      tokens(client, scopes),
      { status: 200 },
      tokens(client, scopes),
      { revoked: !client.withoutRevocation },
      { error: 'invalid_grant' },
    ];

    it.for(clients)(
      'O59 O91 O105 $name calls the API, refreshes with rotation, and ends after the revocation',
      { timeout: CLIENT_TIMEOUT_MS },
      async (client) => {
        const lines = await run(client);
        const whole = wholeFlow(client, SCOPES);
        expect(lines).toEqual(client.withoutRefresh ? whole.slice(0, 2) : whole);
        const refreshTokens = lines.flatMap(({ refresh }) => refresh ?? []);
        expect(new Set(refreshTokens).size).toBe(refreshTokens.length);
        const issued = lines.flatMap(({ access }) => access ?? []);
        expect(new Set(issued).size).toBe(issued.length);
      },
    );

    it.for(clients)(
      'O36 $name notices that the user declined',
      { timeout: CLIENT_TIMEOUT_MS },
      async (client) => {
        const { denied = 'access_denied' } = client;
        expect(await run(client, { allowed: [] })).toEqual([{ denied }]);
      },
    );

    it.for(clients)(
      'O95 $name works with fewer scopes than it requested',
      { timeout: CLIENT_TIMEOUT_MS },
      async (client) => {
        const allowed = ['profile.read'];
        const lines = await run(client, { allowed });
        const whole = wholeFlow(client, allowed);
        if (client.repeatsScope)
          expect(lines).toEqual([...whole.slice(0, 2), { error: 'invalid_scope' }]);
        else expect(lines).toEqual(client.withoutRefresh ? whole.slice(0, 2) : whole);
      },
    );

    const comparing = clients.flatMap((client) =>
      (client.compares ?? []).map((parameter) => ({ name: client.name, client, parameter })),
    );
    if (comparing.length > 0)
      it.for(comparing)(
        'O15 O16 $name rejects another $parameter',
        { timeout: CLIENT_TIMEOUT_MS },
        async ({ client, parameter }) => {
          const change = (url: URL): URL => forged(url, parameter, 'https://evil.example');
          expect(await run(client, { change })).toEqual([{ rejected: expect.any(String) }]);
        },
      );

    if (name === 'java')
      it(
        'O96 Spring Security refreshes in each thread, and keeps its tokens',
        { timeout: CLIENT_TIMEOUT_MS },
        async () => {
          const client = clients.find(({ name: title }) => title === 'Spring Security');
          if (!client) throw new Error('There is no client.');
          // It refreshes a minute before the end.
          const options = { parameters: ['concurrent'], accessTokenSeconds: 62 };
          const lines = await run(client, options);
          expect(lines).toEqual([
            tokens(client, SCOPES),
            ...Array.from({ length: 8 }, () => ({ status: 200 })),
            tokens(client, SCOPES),
          ]);
          expect(lines.at(-1)?.refresh).not.toBe(lines[0]?.refresh);
        },
      );

    if (name === 'go')
      it('O100 golang.org/x/oauth2 refreshes once for all goroutines of a client, and rotation survives many clients', async () => {
        const [client] = clients;
        if (!client) throw new Error('There is no client.');
        const { program } = await authorize(client, { parameters: ['concurrent'] });
        const calls = { accessTokens: 1, statuses: { 200: 40 } };
        expect(await program.next()).toEqual({ ...calls, tokenRequests: 1 });
        expect(await program.next()).toEqual({ ...calls, tokenRequests: 40 });
        expect(await program.next()).toEqual({ ...calls, tokenRequests: 1 });
        expect(await program.next()).toBeUndefined();
      });
  });
});
