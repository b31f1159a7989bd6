import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../src/platform/secrets.js';
import { bodyOf, ENDPOINTS } from '../../support/api.js';
import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink, obtainTokens } from '../../support/oauth-flow.js';
import { Cluster, concurrently } from '../../support/cluster.js';
import { onSqlite, onSqliteAndOneServer } from '../../support/database.js';
import { warningsAndErrors } from '../../support/logs.js';
import { footprintOf, Member } from '../../support/member.js';
import { operationEntries, publishedDocument } from '../../support/published-document.js';
import { json } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { HostileGateway, redirectTo, ForbiddenTarget, MISBEHAVIOURS } from './hostile-gateway.js';
import { unloadedSwaggerUiFiles, SCANNER_PATHS, routesOf } from './undocumented-paths.js';
import { sendRaw, requestOf } from './send-raw.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const MINUTE = 60_000;
/** Far longer than any of these requests. */
const MAX_RESPONSE_MS = 2000;

const passwordIn = (message = ''): string => /\b\d{6}\b/.exec(message)?.[0] ?? 'none';
/** Routes of the pages, and CORS preflights. */
const BROWSER_ROUTES = /^(OPTIONS|ALL) |^POST \/oauth\/authorize\/|^GET \/oauth\/authorize\/[:{]/;

onSqliteAndOneServer('OWASP API Security Top 10 (2023): concurrency', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '5' });

  it('API1 Broken Object Level Authorization: rejects access to foreign items, also during a read of the owner', async ({
    task,
  }) => {
    const owner = await Member.join(app());
    const { id: post } = await owner.publish({ content: 'Ours', visibility: 'private' });
    const { id: comment } = await owner.comment(post);
    const request =
      (await owner.post('/posts', { content: 'Mine' })).headers.get('x-request-id') ?? '';
    const before = await footprintOf(owner);
    const thieves = [await Member.join(app(), { client: owner.client }), await Member.join(app())];
    let attempts = 0;
    for (const thief of thieves)
      for (const endpoint of ENDPOINTS.filter(({ path }) => path.includes(':'))) {
        const path = endpoint.path
          .replace(':post', post)
          .replace(':comment', comment)
          .replace(':request', request);
        // Concurrent reads of several callers share one statement.
        const [stolen, own] = await Promise.all([
          concurrently(8, () => app().call(thief.token, endpoint.method, path, bodyOf(endpoint))),
          concurrently(8, () => owner.get(`/posts/${post}`)),
        ]);
        expect(stolen.map(({ status }) => status)).toEqual(Array(8).fill(404));
        expect(own.map(({ status }) => status)).toEqual(Array(8).fill(200));
        attempts += stolen.length;
      }
    const [thief] = thieves as [Member, Member];
    const query = `userId=${owner.user.id}&user_id=${owner.user.id}&before=${post}`;
    expect(await json(await thief.get(`/posts?${query}`))).toMatchObject({ data: [] });
    expect(await footprintOf(owner)).toEqual(before);
    reportFigure(task, `${database.engine.label}: ${attempts} calls to foreign posts and comments`);
  });
});

onSqlite('OWASP API Security Top 10 (2023)', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });

  it('API2 Broken Authentication: accepts no stored hash, cookie or other header in place of an access token', async () => {
    const client = await app().addClient();
    const user = await app().addUser();
    const { access_token: token } = await obtainTokens(app(), client, user);
    // A phone gets one message a minute.
    app().clock.advance(2 * MINUTE);
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), user);
    // The stored hash of the token, as an attacker finds it in a dump of the database.
    const stored = Buffer.from(sha256(token), 'hex');
    const claims = Buffer.from(`{"sub":"${user.id}","scope":"profile.read"}`).toString('base64url');
    const rejected: Record<string, string>[] = [
      { authorization: `Bearer eyJhbGciOiJub25lIn0.${claims}.` },
      { authorization: `Bearer ${stored.toString('hex')}` },
      { authorization: `Bearer svcat_${stored.toString('base64url')}` },
      { authorization: `Bearer ${user.id}` },
      { authorization: `Basic ${btoa(`${client.clientId}:${client.secret}`)}` },
      { authorization: `Token ${token}` },
      { cookie: visitor.cookie() },
      { cookie: `access_token=${token}` },
      { 'x-access-token': token },
      { 'x-user-id': user.id },
      { 'proxy-authorization': `Bearer ${token}` },
    ];
    for (const headers of rejected)
      expect([headers, (await app().fetch('/dev/v1/me', { headers })).status]).toEqual([
        headers,
        401,
      ]);
    expect((await app().call(token, 'GET', '/me')).status).toBe(200);
  });

  it('API7 Server Side Request Forgery: requests no URL from client input', async () => {
    const target = await ForbiddenTarget.open();
    try {
      const { port } = target;
      const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '[::]'];
      const addresses = hosts.map((host) => `http://${host}:${port}/latest/meta-data`);
      const user = await app().addUser({ photoUrl: addresses[0] });
      const client = await app().addClient({ kind: 'public', redirectUris: addresses.slice(0, 1) });
      const member = await Member.join(app(), { user, client });
      const { id } = await member.publish({ content: addresses.join(' '), images: addresses });
      await member.comment(id, addresses.join(' '));
      for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/comments`])
        expect((await member.get(path)).status).toBe(200);
      expect((await app().fetch(`/post/${id}`)).status).toBe(200);
      const [address] = addresses;
      for (const name of ['request_uri', 'jwks_uri', 'client_uri', 'logo_uri', 'resource'])
        await app().fetch(authorizeLink(client, { [name]: address }));
      await new Browser(app()).signIn(authorizeLink(client), user);
      await sleep(200);
      expect(target.connections).toBe(0);
      // Proves that the target counts connections.
      await fetch(address ?? '');
      expect(target.connections).toBe(1);
    } finally {
      await target.close();
    }
  });

  it('API8 Security Misconfiguration: sends security headers and no internals with every response', async () => {
    const api = ['/dev/v1/me', '/dev/v1/nope', '/dev/v1/posts/%zz'];
    const documents = ['/.well-known/oauth-authorization-server', '/openapi.json'];
    const allowsAnyOrigin = (path: string, method: string): boolean =>
      api.includes(path) || (documents.includes(path) && method === 'GET');
    const pages = ['/', '/docs', '/docs/errors', '/docs/nope', '/oauth/authorize', '/account/apps'];
    const others = ['/assets/style.css', '/livez', '/readyz', '/post/x', '/nope'];
    const headers = { origin: 'https://evil.example', cookie: 'session=x' };
    const paths = [
      ...api,
      ...documents,
      ...pages,
      ...others,
      '/oauth/nope',
      '/%zz',
      '/oauth/token',
    ];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'PUT']) {
        const response = await app().fetch(path, { method, headers });
        const origin = response.headers.get('access-control-allow-origin');
        expect([method, path, origin]).toEqual([
          method,
          path,
          allowsAnyOrigin(path, method) ? '*' : null,
        ]);
        for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-credentials'])
          expect([path, response.headers.get(name)]).toEqual([path, null]);
        expect([path, response.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
        expect([path, response.headers.get('x-frame-options')]).toEqual([path, 'DENY']);
        const policy = response.headers.get('content-security-policy');
        expect(policy).toMatch(/^default-src 'none'.*;\s*frame-ancestors 'none'/);
        const text = await response.text();
        if (!response.ok)
          expect(text).not.toMatch(/\n\s+at |node_modules|\.[jt]s:\d|Cannot [A-Z]+ /);
      }
  });

  it('API8 Security Misconfiguration: does not replace the method by that of a header or query', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const path = `/dev/v1/posts/${id}`;
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])
      for (const address of [path, `${path}?_method=DELETE`]) {
        const headers = { authorization: `Bearer ${member.token}`, [name]: 'DELETE' };
        expect((await app().fetch(address, { method: 'POST', headers })).status).toBe(405);
        expect((await app().fetch(address, { headers })).status).toBe(200);
      }
  });
});

onSqlite('OWASP API Security Top 10 (2023): inventory', (database) => {
  const app = useTestApp(database);

  it('API9 Improper Inventory Management: serves documented routes only', async () => {
    const documented = operationEntries(publishedDocument()).map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    const served = routesOf(app().nest)
      .filter(({ path }) => /^\/(dev|oauth|\.well-known)\//.test(path))
      // A file for people (RFC 9116), and the 404 of all other well-known paths.
      .filter(({ path }) => !/^\/\.well-known\/(security\.txt|\{\*path\})$/.test(path))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !BROWSER_ROUTES.test(name));
    expect(served.toSorted()).toEqual(documented.toSorted());
    const { token } = await Member.join(app());
    for (const path of SCANNER_PATHS) {
      const headers = [`Authorization: Bearer ${token}`, 'Connection: close'];
      const { statuses } = await sendRaw(app().baseUrl, requestOf(`GET ${path}`, headers));
      expect([path, statuses]).toEqual([path, [404]]);
    }
  });

  it('API9 Improper Inventory Management: serves only the used files of the documentation library, and their licences', async () => {
    const html = await (await app().fetch('/docs')).text();
    const loaded = [...html.matchAll(/(?:src|href)="(?:\.\/docs\/)?([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(loaded).toContain('swagger-ui-bundle.js');
    const unused = await unloadedSwaggerUiFiles(loaded);
    const served = [];
    for (const name of unused) {
      const response = await app().fetch(`/docs/${name}`, { method: 'HEAD' });
      if (response.status !== 404 && name !== 'index.html') served.push(name);
    }
    expect(served).toEqual([]);
  });
});

onSqlite('OWASP API Security Top 10 (2023): SMS gateway', (database) => {
  const setupApp = useTestApp(database);

  it('API10 Unsafe Consumption of APIs: tolerates a compromised SMS gateway', async () => {
    const [gateway, target] = [await HostileGateway.open(), await ForbiddenTarget.open()];
    const service = await startProcess({ url: database.url, env: gateway.settings });
    try {
      const site = new Cluster(service.baseUrl, [service]);
      const link = authorizeLink(await setupApp().addClient());
      const behaviours = [...Object.values(MISBEHAVIOURS), redirectTo(target.port)];
      const users = await concurrently(behaviours.length + 1, () => setupApp().addUser());
      // The gateway delivers only the message to the last user.
      behaviours.forEach((behaviour, index) =>
        gateway.misbehave(users[index]?.phone ?? '', behaviour),
      );
      const pages = [];
      const visitors = users.map(() => new Browser(site));
      for (const [index, visitor] of visitors.entries()) {
        const startedAt = performance.now();
        const phone = users[index]?.phone ?? '';
        const page = await visitor.submit(await visitor.open(link), SIGN_IN, { phone });
        expect(performance.now() - startedAt).toBeLessThan(MAX_RESPONSE_MS);
        await expect.poll(() => gateway.messageTo(phone), { timeout: 5000 }).toBeDefined();
        pages.push(page);
      }
      // The pages do not depend on the response of the gateway.
      expect(new Set(pages.map(({ status, html }) => `${status} ${html.length}`)).size).toBe(1);
      const code = passwordIn(gateway.messageTo(users.at(-1)?.phone ?? ''));
      const consent = await visitors.at(-1)?.submit(pages.at(-1) as Page, VERIFY, { code });
      expect(consent?.html).toContain('name="decision"');
      expect((await site.fetch('/readyz')).status).toBe(200);
      expect(await service.stop()).toBe(0);
      expect(target.connections).toBe(0);
      for (const { phone } of users) {
        expect(service.output()).not.toContain(phone.slice(1));
        expect(service.output()).not.toContain(passwordIn(gateway.messageTo(phone)));
      }
      const log = warningsAndErrors(service.output());
      const lost = log.filter(({ msg }) => msg.includes('SMS gateway'));
      // The endless body and the body with a script follow valid headers with status 200, which counts as success.
      expect(lost).toHaveLength(behaviours.length - 2);
    } finally {
      await service.kill();
      await gateway.close();
      await target.close();
    }
  });
});
