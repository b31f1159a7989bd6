import { parse } from 'csv-parse/sync';
import { newId } from '../../../src/platform/ids.js';
import { App } from '../../../src/modules/oauth/clients/client.entities.js';
import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink, redirectParameters } from '../../support/oauth-flow.js';
import { CommandLine } from '../../support/command-line.js';
import type { PrivateServer } from '../../support/server-by-command.js';
import { startPrivateServer } from '../../support/database-server.js';
import {
  onEachServer,
  onSqlite,
  onSqliteAndOneServer,
  sqliteFile,
} from '../../support/database.js';
import {
  type CommentBody,
  footprintOf,
  Member,
  type PageBody,
  type PostBody,
} from '../../support/member.js';
import { json } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';
import {
  rateLimits,
  UNLIMITED,
  TestApp,
  type TestClient,
  useTestApp,
} from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { escaped, HIDDEN, HOSTILE_LINES, HOSTILE_TEXTS, printable } from './hostile-texts.js';
import { sendRaw, requestOf } from './send-raw.js';

const PLAIN = 'Plain words';
const MAX_TAG_LENGTH = 50;
/** Every nth hostile line is tested as a name. */
const NAME_STEP = byExtent({ whole: 1, quick: 6 });
const CALLBACK = 'https://garden.example/callback';
/** Headers with free-form values. */
const HEADERS = [
  'User-Agent',
  'Referer',
  'Origin',
  'Authorization',
  'Cookie',
  'Forwarded',
  'X-Forwarded-For',
  'X-Request-Id',
];

/** A page without its random values and the last digits of phones. */
function withoutRandomValues(html: string): string {
  return (
    html
      .replaceAll(/(name="(?:transaction|token|user|client_id|next)"[^>]* value=")[^"]*/g, '$1')
      .replaceAll(/svc_app_\w{26}/g, '')
      .replaceAll(/••\d\d/g, '••')
      .replaceAll(/<time .*?<\/time>/g, '')
      // The initial of a name, escaped.
      .replaceAll(/aria-hidden="true">(<span>)?([^<&]+|&\w+;|&#\d+;)</gu, 'aria-hidden="true">$1<')
  );
}

/** Asserts that a page with a hostile text equals the page with plain text, apart from the escaped text. */
function expectText(html: string, text: string, plain: string): void {
  expect(plain).toContain(PLAIN);
  expect(withoutRandomValues(html).replaceAll(escaped(text), PLAIN)).toBe(
    withoutRandomValues(plain),
  );
}

onSqliteAndOneServer('Injection through posts and comments', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });

  it('stores and returns hostile texts without change, and escapes them on the page of the post', async ({
    task,
  }) => {
    const bystander = await Member.join(app());
    await bystander.comment((await bystander.publish()).id);
    const before = await footprintOf(bystander);
    const member = await Member.join(app());
    const pageOf = async ({ permalink }: PostBody): Promise<string> =>
      (await fetch(permalink)).text();
    const images = [`https://images.example/?a='"><svg/onload=x()>&b=%0d%0a`];
    for (const text of HOSTILE_TEXTS) {
      const isLine = HOSTILE_LINES.includes(text);
      const isTag = isLine && text.length <= MAX_TAG_LENGTH;
      const fieldsWith = (words: string): object => ({
        content: words,
        ...(isLine && { title: words }),
        ...(isTag && { tags: [words, 'tag'] }),
      });
      const post = await member.publish({ ...fieldsWith(text), images });
      expect(post).toMatchObject({ ...fieldsWith(text), images });
      const own = await json(await member.get(`/posts/${post.id}`));
      expect(own).toMatchObject({ content: text, tags: isTag ? [text, 'tag'] : [] });
      const comment = await member.comment(post.id, text);
      const { data } = await json<PageBody<CommentBody>>(
        await member.get(`/posts/${post.id}/comments`),
      );
      expect(data).toEqual([comment]);
      expect(comment.text).toBe(text);
      const plain = await pageOf(await member.publish({ ...fieldsWith(PLAIN), images }));
      expectText(await pageOf(post), text, plain);
      expect(plain).not.toContain('<svg/onload');
    }
    expect(await footprintOf(bystander)).toEqual(before);
    reportFigure(
      task,
      `${database.engine.label}: ${HOSTILE_TEXTS.length} hostile texts in each field`,
    );
  });

  it('separates hostile idempotency keys by user', async () => {
    const members = [await Member.join(app()), await Member.join(app())];
    const keys = HOSTILE_LINES.map((text) => text.replaceAll(/[^!-~]/g, '')).filter(Boolean);
    const publish = async (member: Member, key: string): Promise<string> => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      return (await json<PostBody>(await member.postRaw('/posts', '{"content":"Hi"}', headers))).id;
    };
    const ids = new Set<string>();
    for (const key of keys)
      for (const member of members) {
        const id = await publish(member, key);
        expect(await publish(member, key)).toBe(id);
        ids.add(id);
      }
    expect(ids.size).toBe(2 * keys.length);
  });
});

onEachServer('Server with NO_BACKSLASH_ESCAPES', ({ engine }) => {
  let server: PrivateServer | undefined;
  let app: TestApp | undefined;
  beforeAll(async () => {
    if (engine.kind === 'sqlite') return;
    const settings = ['--sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES'];
    server = await startPrivateServer(engine.kind, { settings });
    if (server === undefined) return;
    await runSql(server.url, 'CREATE DATABASE service');
    app = await TestApp.start({ url: `${server.url}/service` });
  }, 180_000);
  afterAll(async () => {
    await app?.stop();
    await server?.stop();
  });

  it('stores hostile texts without change', async ({ skip }) => {
    if (app === undefined) return skip();
    const member = await Member.join(app);
    const post = await member.publish();
    for (const text of HOSTILE_TEXTS) expect((await member.comment(post.id, text)).text).toBe(text);
  });

  it('reveals no data of other tables', async ({ skip }) => {
    if (app === undefined) return skip();
    const { phone } = await app.addUser({ phone: '+19995550100' });
    const member = await Member.join(app);
    const { id: postId } = await member.publish();
    const hex = (text: string): string => `0x${Buffer.from(text).toString('hex')}`;
    const ids = [newId('cmt', app.clock.now()), postId, member.user.id].map(hex).join(', ');
    const stolen = '(SELECT MAX(phone) FROM users)';
    const text = `', NOW(3), NULL), (${ids}, NULL, ${stolen}, NOW(3), NULL) -- `;
    await member.post(`/posts/${postId}/comments`, { text, parentId: null });
    const { data } = await json<PageBody<CommentBody>>(
      await member.get(`/posts/${postId}/comments`),
    );
    expect(data.map((comment) => comment.text)).not.toContain(phone);
    expect(data.map((comment) => comment.text)).toEqual([text]);
  });
});

onSqlite('Injection through names', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database);
  // Names of apps have no hidden characters.
  const hostileNames = HOSTILE_LINES.filter((line) => !HIDDEN.test(line));
  const names = [PLAIN, ...hostileNames.filter((_, index) => index % NAME_STEP === 0)];
  const clients: TestClient[] = [];

  beforeAll(async () => {
    for (const name of names) {
      const words = ['app', 'create', `--name=${name}`, '--redirect-uri', CALLBACK];
      words.push('--scope', 'profile.read', '--allow-similar-name');
      const created = await cli.json<{ client_id: string }>(...words);
      clients.push(await app().service(AppsService).get(created.client_id));
    }
    const quoted = names.map(
      (name, index) => `+1415555${3000 + index},"${name.replaceAll('"', '""')}"`,
    );
    const file = ['phone,name', ...quoted].join('\n');
    await cli.jsonWithInput(file, 'user', 'import', '-');
  });

  it('escapes hostile names on the pages of consent and of connected apps', async () => {
    /** The pages that show the app and the user with this index, in a fixed order. */
    const pagesOf = async (index: number): Promise<string[]> => {
      const client = clients[index] as TestClient;
      const phone = `+1415555${3000 + index}`;
      const user = await app().dataSource.manager.findOneByOrFail(User, { phone });
      expect([user.name, client.name]).toEqual([names[index], names[index]]);
      const visitor = new Browser(app());
      const phonePage = await visitor.open(authorizeLink(client));
      const consent = await visitor.signIn(authorizeLink(client), { ...user, phone });
      const allowed = { scope: 'profile.read', decision: 'approve' };
      await visitor.submit(consent, '/oauth/authorize/decision', allowed);
      const list = await visitor.open('/account/apps');
      const one = await visitor.open(`/account/apps/${client.clientId}`);
      const removed = await visitor.submit(one, '/account/apps/revoke');
      return [phonePage, consent, list, one, removed].map(({ html }) => html);
    };
    const plain = await pagesOf(0);
    // A phone gets one message a minute, and the first user signs in twice.
    app().clock.advance(61_000);
    for (const [index, name] of names.entries())
      for (const [pageIndex, html] of (await pagesOf(index)).entries())
        expectText(html, name, plain[pageIndex] ?? '');
  });

  it('writes no formula into the CSV report', async () => {
    const { stdout } = await cli.run('quota', 'report', '--csv');
    const rows: Record<string, string>[] = parse(stdout, { columns: true });
    const cells = rows.flatMap((row) => Object.values(row));
    expect(cells.filter((cell) => /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell))).toEqual([]);
    // The report prefixes a formula with a character, which makes it a text.
    const entries = rows.map(({ name = '' }) => (names.includes(name) ? name : name.slice(1)));
    expect(entries.toSorted()).toEqual(names.toSorted());
  });

  it.each([
    ['ESC', '\u001b[2J\u001b]0;owned\u0007'],
    ['CSI and OSC of one character', '\u009b2J\u009d0;owned\u009c'],
    ['other controls of one character', '\u0085\u008d\u0090'],
  ])('removes terminal control characters from output: %s', async (_, controls) => {
    const name = `Ana ${controls} Lee`;
    const user = `${JSON.stringify({ phone: '+14155554001', name })}\n`;
    // Earlier versions accepted such names.
    const { id } = await app().addUser({ name });
    const { clientId } = await app().addClient();
    await app().dataSource.manager.update(App, { clientId }, { name });
    const outcomes = [
      await cli.run('user', 'show', id),
      await cli.run('app', 'show', clientId),
      await cli.run('app', 'show', clientId, '--json'),
      await cli.runWithInput(user, 'user', 'import', '-', '--format', 'ndjson'),
      await cli.run('user', 'show', '--phone', '+14155554001'),
      await cli.run(
        'app',
        'create',
        `--name=${name}`,
        '--redirect-uri',
        CALLBACK,
        '--scope',
        'posts.read',
      ),
      await cli.run('app', 'list'),
      await cli.run('quota', 'report', '--csv'),
      await cli.run('audit', 'list'),
    ];
    for (const { stdout, stderr } of outcomes) expect(stdout + stderr).not.toMatch(HIDDEN);
    expect(outcomes[0]?.stdout).toContain('\\u00');
  });
});

onSqlite('Injection through authorization requests', (database) => {
  const app = useTestApp(database);

  it('returns a hostile state only as a parameter, and adds no header', async () => {
    const client = await app().addClient();
    const stranger = new Browser(app());
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    for (const state of HOSTILE_TEXTS) {
      const link = authorizeLink(client, { state, scope: 'nothing' });
      const redirected = await visitor.open(link);
      expect(redirected.location).toMatch(/^https:\/\/garden\.example\/callback\?[!-~]+$/);
      expect(redirectParameters(redirected).get('state')).toBe(state);
      expect(redirected.headers.getSetCookie().join()).not.toContain('stolen');
      const { html } = await stranger.open(link);
      const href =
        /href="(https:[^"]*)"/.exec(html)?.[1]?.replaceAll('&#39;', "'").replaceAll('&amp;', '&') ??
        '';
      expect(new URL(href).searchParams.get('state')).toBe(state);
      expect(html.includes(state) && state !== escaped(state)).toBe(false);
      for (const name of ['redirect_uri', 'client_id']) {
        const rejected = await stranger.open(authorizeLink(client, { [name]: state }));
        expect([rejected.status, rejected.location]).toEqual([400, null]);
        expect(rejected.html).not.toContain(escaped(state));
      }
    }
  });

  it('escapes hostile texts in the phone field', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open('/account/apps');
    const submitPhone = async (phone: string): Promise<string> =>
      (await visitor.submit(phonePage, '/account/sign-in', { phone })).html;
    const plain = await submitPhone(PLAIN);
    for (const text of HOSTILE_TEXTS) expectText(await submitPhone(text), text, plain);
  });
});

describe('Injection through raw requests', () => {
  const { url } = sqliteFile();
  const env = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://api.example',
    OTP_PEPPER: 'a pepper of at least 32 characters',
    SHUTDOWN_DELAY_MS: '0',
    MIGRATE: '1',
    LOG_LEVEL: 'trace',
    SMS_SENDER: 'webhook',
    SMS_WEBHOOK_URL: 'https://127.0.0.1:9/',
    SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
    // All token requests and sign-ins fail and come from one address. Above these limits, the service would reject them unread.
    ...rateLimits({ 'token-failures': UNLIMITED, 'sign-in-failures': UNLIMITED }),
  };

  it('writes one JSON object per line to the log, without forged lines', async ({ task }) => {
    const service = await startProcess({ url, env });
    const forged = '{"level":"fatal","msg":"forged"}';
    let sent = 0;
    const send = async (line: string, headers: readonly string[], body = ''): Promise<string> => {
      sent += 1;
      const length = `Content-Length: ${Buffer.byteLength(body)}`;
      const request = requestOf(line, [...headers, length, 'Connection: close'], body);
      const { text } = await sendRaw(service.baseUrl, request);
      expect(text).toMatch(/^x-request-id: req_[0-9a-z]{26}\r$/im);
      expect(text).not.toMatch(/^set-cookie: stolen/im);
      return text;
    };
    for (const text of [...HOSTILE_TEXTS, `x\n${forged}\nx`]) {
      const encoded = encodeURIComponent(text);
      const headers = HEADERS.map((name) => `${name}: ${printable(text)}?`);
      await send(`GET /dev/v1/posts/${encoded}?${encoded}=${encoded}`, headers);
      await send(`GET /${encoded}`, ['X-Request-Id: %0a{}']);
      const form = 'Content-Type: application/x-www-form-urlencoded';
      const fields = `client_id=${encoded}&client_secret=${encoded}&grant_type=${encoded}`;
      await send(`POST /oauth/token?client_secret=${encoded}`, [form, 'X-Request-Id: "'], fields);
      await send('POST /account/sign-in', [form, 'X-Request-Id: a b'], `phone=${encoded}`);
    }
    expect(await service.stop()).toBe(0);
    const lines = service.output().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.filter(({ msg, level }) => msg === 'forged' || level === 'fatal')).toEqual([]);
    expect(
      entries.filter(({ msg, route }) => msg === 'request' && route !== '/livez'),
    ).toHaveLength(sent);
    expect(service.output()).not.toMatch(/alert\(1\)|DROP TABLE/);
    expect(service.output()).not.toMatch(HIDDEN);
    reportFigure(task, `${sent} hostile requests, ${lines.length} lines of JSON`);
  });
});
