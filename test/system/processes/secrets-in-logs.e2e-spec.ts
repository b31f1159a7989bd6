import Sqlite from 'better-sqlite3';
import { Browser } from '../../support/browser.js';
import {
  authorizeLink,
  exchange,
  redirectParameters,
  requestToken,
  VERIFIER,
} from '../../support/oauth-flow.js';
import { Cluster } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { warningsAndErrors } from '../../support/logs.js';
import { json, type TokenBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TEST_LIMITS, type TestClient, useTestApp, withoutTable } from '../../support/test-app.js';

const TIMEOUT_MS = 120_000;
/** SQL statements, query parameters and headers (also as members of JSON): any of them may contain a secret. */
const FORBIDDEN = /\bSELECT .+ FROM\b|[?&](code|state|client_secret)=|"?(authorization|cookie)"?:/i;

onOneEngine('Verbose log', (database) => {
  const setupApp = useTestApp(database);
  /** Values that must not be printed, by description. */
  const secrets = new Map<string, string>();
  let proxy: TcpProxy | undefined;
  let service: ServiceProcess;
  let site: Cluster;

  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    if (database.engine.kind !== 'sqlite') proxy = await TcpProxy.start(database.url);
    const env = { ...TEST_LIMITS, LOG_LEVEL: 'trace', DB_TIMEOUT_MS: '1000', DEMO: '0' };
    service = await startProcess({ url: proxy?.url ?? database.url, env });
    site = new Cluster(service.baseUrl, [service]);
  });
  afterAll(async () => {
    await proxy?.repair();
    await service?.stop();
    await proxy?.stop();
  });

  function addSecret(name: string, value: string | undefined): string {
    secrets.set(`${name} ${secrets.size}`, value ?? '');
    return value ?? '';
  }

  function addTokens({ access_token, refresh_token }: TokenBody): void {
    addSecret('access token', access_token);
    addSecret('refresh token', refresh_token);
  }

  function addCookies({ cookies }: Browser): void {
    for (const [name, value] of cookies) addSecret(`cookie ${name}`, value);
  }

  function basic({ clientId, secret }: TestClient, password = secret): Record<string, string> {
    const credentials = Buffer.from(`${clientId}:${password}`).toString('base64');
    return { authorization: `Basic ${addSecret('Basic credentials', credentials)}` };
  }

  /** Makes the database unavailable: cuts the connection or, on SQLite, locks the file. */
  async function withoutDatabase(work: () => Promise<void>): Promise<void> {
    const file = proxy ? undefined : new Sqlite(database.url.slice('sqlite:'.length));
    file?.exec('BEGIN EXCLUSIVE');
    await proxy?.cut();
    try {
      await work();
    } finally {
      await proxy?.repair();
      file?.close();
    }
  }

  /**
   * Signs in, after a wrong one-time password, and allows all scopes. Each step first fails because the database or a table is
   * missing. Returns the authorization code.
   */
  async function approve(client: TestClient): Promise<string> {
    const { id, name, phone } = await setupApp().addUser({ name: 'Ana Quetzal' });
    addSecret('user', id);
    addSecret('name', name);
    for (const part of [phone.slice(1), phone.slice(2)]) addSecret('phone', part);
    const visitor = new Browser(site);
    const phonePage = await visitor.open(
      authorizeLink(client, { state: addSecret('state', 'a-state-of-the-app') }),
    );
    addCookies(visitor);
    addSecret('form token', /name="token" value="([^"]+)"/.exec(phonePage.html)?.[1]);
    const sendPhone = () => visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone });
    await withoutDatabase(async () => expect((await sendPhone()).status).toBe(503));
    const codePage = await sendPhone();
    const password = addSecret('one-time password', await site.sms.password(phone));
    const sendCode = (code: string) =>
      visitor.submit(codePage, '/oauth/authorize/verify', { code });
    const wrong = addSecret('wrong password', password === '482913' ? '482914' : '482913');
    expect((await sendCode(wrong)).title).toMatch(/^Error:/);
    await withoutDatabase(async () => expect((await sendCode(password)).status).toBe(503));
    const consent = await sendCode(password);
    addCookies(visitor);
    const decide = () =>
      visitor.submit(consent, '/oauth/authorize/decision', {
        scope: [...client.scopes],
        decision: 'approve',
      });
    await withoutTable(setupApp(), 'grants', async () => expect((await decide()).status).toBe(500));
    return addSecret('code', redirectParameters(await decide()).get('code') ?? undefined);
  }

  it(
    'O143 contains request ids, stacks and database errors, but no secret, code, token, password, verifier, cookie, name or phone',
    { timeout: TIMEOUT_MS },
    async () => {
      addSecret('verifier', VERIFIER);
      const client = await setupApp().addClient();
      addSecret('client secret', client.secret);
      const code = await approve(client);
      const redirect_uri = client.redirectUris[0] ?? '';
      const form = { grant_type: 'authorization_code', code, redirect_uri };
      const noCredentials = { client_id: undefined, client_secret: undefined };
      const wrong = addSecret('wrong secret', `svc_sec_${'w'.repeat(43)}`);
      const attempts: [number, () => Promise<Response>][] = [
        [401, () => requestToken(site, client, { ...form, client_secret: wrong })],
        [
          401,
          () => requestToken(site, client, { ...form, ...noCredentials }, basic(client, wrong)),
        ],
        [400, () => requestToken(site, client, { ...form, code: `${code}x` })],
        [400, () => requestToken(site, client, { ...form, code_verifier: VERIFIER })],
      ];
      for (const [status, attempt] of attempts) expect((await attempt()).status).toBe(status);
      const urlWithSecrets = `/oauth/token?code=${code}&client_secret=${client.secret}`;
      await site.fetch(urlWithSecrets, { method: 'POST', body: new URLSearchParams(form) });
      const exchangeCode = () =>
        requestToken(site, client, { ...form, ...noCredentials }, basic(client));
      await withoutDatabase(async () => expect((await exchangeCode()).status).toBe(503));
      await withoutTable(setupApp(), 'refresh_tokens', async () =>
        expect((await exchangeCode()).status).toBe(500),
      );
      const first = await json<TokenBody>(await exchangeCode());
      addTokens(first);

      const refresh = ({ refresh_token }: TokenBody) =>
        requestToken(site, client, { grant_type: 'refresh_token', refresh_token });
      await withoutDatabase(async () => expect((await refresh(first)).status).toBe(503));
      await withoutTable(setupApp(), 'access_tokens', async () => {
        expect((await refresh(first)).status).toBe(500);
      });
      const second = await json<TokenBody>(await refresh(first));
      addTokens(second);
      const headers = { authorization: `Bearer ${second.access_token}` };
      const publish = () =>
        site.call(second.access_token, 'POST', '/posts', {
          content: addSecret('text of a post', 'Hello, street of mine'),
        });
      expect((await publish()).status).toBe(201);
      await withoutDatabase(async () => expect((await publish()).status).toBe(503));
      await withoutTable(setupApp(), 'posts', async () =>
        expect((await publish()).status).toBe(500),
      );
      const query = `?${addSecret('query', 'whose=nobodys')}&access_token=${second.access_token}`;
      expect((await site.fetch(`/dev/v1/me${query}`)).status).toBe(401);
      expect((await site.fetch(`/dev/v1/me${query}`, { headers })).status).toBe(400);
      const third = await json<TokenBody>(await refresh(second));
      addTokens(third);
      expect((await refresh(first)).status).toBe(400);
      expect((await site.fetch('/dev/v1/me', { headers })).status).toBe(401);

      const publicApp = await setupApp().addClient({ kind: 'public' });
      const tokens = await json<TokenBody>(
        await exchange(site, publicApp, await approve(publicApp)),
      );
      addTokens(tokens);
      const send = (path: string, target: TestClient, token: string) => {
        const body = { client_id: target.clientId, client_secret: target.secret ?? '', token };
        return site.fetch(path, { method: 'POST', body: new URLSearchParams(body) });
      };
      const { access_token, refresh_token } = tokens;
      await withoutDatabase(async () => {
        await send('/oauth/introspect', client, access_token);
        expect((await send('/oauth/revoke', publicApp, refresh_token)).status).toBe(503);
      });
      expect((await send('/oauth/introspect', client, access_token)).status).toBe(200);
      expect((await send('/oauth/revoke', client, access_token)).status).toBe(400);
      expect((await send('/oauth/revoke', publicApp, refresh_token)).status).toBe(200);

      const printed = service.output();
      // The digits of a one-time password may be part of a longer number by chance.
      const leaked = [...secrets].filter(([, value]) =>
        /^\d{6}$/.test(value)
          ? new RegExp(`\\b${value}\\b`).test(printed)
          : printed.includes(value),
      );
      expect(leaked.map(([name]) => name)).toEqual([]);
      expect(printed).not.toMatch(/\b(Bearer|Basic) [A-Za-z0-9+/_=-]{8,}/);
      expect(printed).not.toMatch(FORBIDDEN);
      expect(printed.match(/req_[0-9a-z]{26}/g)?.length).toBeGreaterThan(10);
      const stacks = warningsAndErrors(printed).map(({ stack }) => stack ?? '');
      expect(stacks.join('\n')).toMatch(/^ {4}at /m);
      expect(printed).toMatch(/refresh_tokens/);
      expect(printed).toMatch(
        database.engine.kind === 'sqlite'
          ? /database is locked/
          : /ECONNREFUSED|PROTOCOL|ECONNRESET/,
      );
    },
  );
});
