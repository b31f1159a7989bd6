import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { type Page, Browser, linkOf } from '../../support/browser.js';
import { Cluster } from '../../support/cluster.js';
import { CommandLine, runCommand } from '../../support/command-line.js';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { json } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const CREATE = [
  'app',
  'create',
  '--name',
  'Garden Share',
  '--scope',
  SCOPES.join(' '),
  '--redirect-uri',
];
/** The public app of the demo. */
const DEMO_APP = 'svc_app_test_00000000000000000000000001';
/** The demo user is a test member. */
const ANA = { phone: '+14155550101', code: '424242' };

interface SignIn {
  from?: Example;
  button?: string;
  user?: { phone: string; code?: string };
}

/** The running example. */
class Example {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(env: Record<string, string>): Promise<Example> {
    const child = spawn(process.execPath, ['examples/third-party-app/app.js'], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) throw new Error(`The example printed no link: ${line}`);
    return new Example(child, url);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}

/** Follows a button of the example. Returns the authorization request to which it redirects. */
async function connect(browser: Browser, example: Example, button = 'Connect'): Promise<string> {
  const href = linkOf(await browser.open(example.url), button);
  const { status, location } = await browser.open(new URL(href, example.url).href);
  expect(status).toBe(303);
  return location ?? '';
}

/** The paragraphs of the section with this heading, as HTML. */
function linesOf(html: string, heading: string): string[] {
  const section = html.split('<section>').find((text) => text.includes(`<h2>${heading}</h2>`));
  return [...(section ?? '').matchAll(/<p.*?>(.*?)<\/p>/g)].map(([, line = '']) => line);
}

onOneEngine('Example app with the demo', (database) => {
  let service: ServiceProcess;
  let example: Example;

  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '-s', 'build:client']);
    const env = { DEMO: '1', LOG_LEVEL: 'warn' };
    service = await startProcess({ url: database.url, env });
    example = await Example.start({ ISSUER: service.baseUrl });
  });
  afterAll(async () => {
    await example?.stop();
    await service?.stop();
  });

  /** Like every browser, it sends cookies to all ports of a host (RFC 6265 §8.5). */
  const newBrowser = (): Browser => new Browser(new Cluster(service.baseUrl, [service]));

  /** Connects the example and signs in, by default as Ana. Returns the consent page. */
  async function signIn(
    browser: Browser,
    { from = example, button = 'Connect', user = ANA }: SignIn = {},
  ): Promise<Page> {
    const page = await browser.signIn(await connect(browser, from, button), user);
    // If an earlier test gave the app every scope.
    const change = /href="([^"]*\?change=1)"/.exec(page.html)?.[1];
    return change === undefined ? page : browser.open(change);
  }

  /** Runs the flow. Returns the HTML of the result page of the example. */
  async function runFlow(
    scope: string[],
    { decision = 'approve', ...options }: SignIn & { decision?: string } = {},
  ): Promise<string> {
    const browser = newBrowser();
    const consent = await signIn(browser, options);
    const fields = { scope, decision };
    const { location } = await browser.submit(consent, '/oauth/authorize/decision', fields);
    return (await browser.open(location ?? '')).html;
  }

  it('shows the consent page with a box for each scope, also after "demo token" and ten sign-ins', async () => {
    const token = await runCommand(['demo', 'token'], { DATABASE_URL: database.url, DEMO: '1' });
    expect(token.code).toBe(0);
    for (let signIns = 1; signIns <= 10; signIns += 1) {
      const { html } = await signIn(newBrowser());
      expect(html.match(/<input type="checkbox" name="scope"/g)).toHaveLength(SCOPES.length);
    }
  });

  it('runs the complete flow as the public app of the demo, in test mode', async () => {
    const result = await runFlow([...SCOPES]);
    expect(result).toContain('<h1>Connected</h1>');
    expect(linesOf(result, 'Test mode')).toHaveLength(1);
    expect(linesOf(result, 'Granted scopes')).toEqual(SCOPES);
    expect(linesOf(result, 'Profile')).toEqual(['Ana Lee', 'Riverside']);
    expect(linesOf(result, 'Published post')[1]).toMatch(
      /^<a href="(http:\/\/127\.0\.0\.1:\d+\/post\/post_\w+)">\1<\/a>$/,
    );
    expect(linesOf(result, 'Newest of 4 posts')[0]).toMatch(/^Hello from a third-party app/);
  });

  it('uses only the granted scopes', async () => {
    const result = await runFlow(['profile.read']);
    expect(linesOf(result, 'Granted scopes')).toEqual(['profile.read']);
    expect(linesOf(result, 'Profile')).toEqual(['Ana Lee', 'Riverside']);
    expect(result).not.toMatch(/<h2>(Published post|Newest)/);
  });

  it('shows access_denied after Cancel', async () => {
    const result = await runFlow([], { decision: 'deny' });
    expect(result).toContain('<h1>Access denied</h1>');
    expect(linesOf(result, 'access_denied')).toHaveLength(1);
  });

  it('has a switch: as a confidential app, it connects members with the real app and test members with the test app', async () => {
    const port = String(await freePort());
    const cli = new CommandLine(database);
    const [app, testApp] = [
      await cli.json<Record<string, string>>(...CREATE, `http://127.0.0.1:${port}/callback`),
      await cli.json<Record<string, string>>(
        ...[...CREATE, `http://127.0.0.1:${port}/callback`, '--test'],
      ),
    ];
    const user = { phone: '+14155551234' };
    await cli.json('user', 'add', '--name', 'Dana Reyes', '--phone', user.phone);
    const from = await Example.start({
      ISSUER: service.baseUrl,
      CLIENT_ID: app.client_id ?? '',
      CLIENT_SECRET: app.client_secret ?? '',
      TEST_CLIENT_ID: testApp.client_id ?? '',
      TEST_CLIENT_SECRET: testApp.client_secret ?? '',
      PORT_EXAMPLE: port,
    });
    onTestFinished(() => from.stop());
    const real = await runFlow([...SCOPES], { from, user });
    expect(real).toContain('<h1>Connected</h1>');
    expect(linesOf(real, 'Profile')[0]).toBe('Dana Reyes');
    expect(linesOf(real, 'Published post')).toHaveLength(2);
    expect(linesOf(real, 'Test mode')).toEqual([]);
    const tested = await runFlow([...SCOPES], { from, button: 'Connect in test mode' });
    expect(linesOf(tested, 'Profile')[0]).toBe('Ana Lee');
    expect(linesOf(tested, 'Test mode')).toHaveLength(1);
  });

  it('shows a comment that arrives as an event, until it is deleted, and rejects a forged one', async () => {
    const port = String(await freePort());
    const { secret } = await new CommandLine(database).json<{ secret: string }>(
      ...['app', 'webhook', 'set', DEMO_APP, `http://127.0.0.1:${port}/events`],
    );
    const from = await Example.start({
      ISSUER: service.baseUrl,
      WEBHOOK_SECRET: secret,
      PORT_EXAMPLE: port,
    });
    onTestFinished(() => from.stop());
    const comments = async (): Promise<string[]> =>
      linesOf(await (await fetch(from.url)).text(), 'New comments');
    const result = await runFlow([...SCOPES], { from });
    const [, link = ''] = linesOf(result, 'Published post');
    const postId = /post_\w+/.exec(link)?.[0] ?? '';
    const env = { DATABASE_URL: database.url, DEMO: '1' };
    const token = (await runCommand(['demo', 'token'], env)).stdout.trim();
    const call = (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${service.baseUrl}/dev/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const ids: string[] = [];
    // The service may notice the endpoint after five seconds, and sends events each second.
    const waiting = { timeout: 20_000, interval: 1000 };
    await vi.waitFor(async () => {
      const response = await call('POST', `/posts/${postId}/comments`, { text: 'Plums < pears' });
      ids.push((await json<{ id: string }>(response)).id);
      expect((await comments())[0]).toBe('Ana Lee: Plums &lt; pears');
    }, waiting);
    const forged = await fetch(`${from.url}/events`, {
      method: 'POST',
      headers: {
        'webhook-id': 'msg_x',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,AAAA',
      },
      body: '{}',
    });
    expect(forged.status).toBe(400);
    for (const id of ids) expect((await call('DELETE', `/comments/${id}`)).status).toBe(200);
    await vi.waitFor(async () => expect(await comments()).toEqual([]), waiting);
  });

  it('rejects a callback of another browser', async () => {
    const state = new URL(await connect(newBrowser(), example)).searchParams.get('state') ?? '';
    const response = await fetch(`${example.url}/callback?code=svcac_x&state=${state}`);
    expect(response.status).toBe(400);
  });

  it('shows an error without the values of a forged callback as HTML', async () => {
    const browser = newBrowser();
    const link = new URL(await connect(browser, example));
    const callback = new URLSearchParams({
      state: link.searchParams.get('state') ?? '',
      iss: service.baseUrl,
      error: '<script>',
      error_description: '<img src="x">',
    });
    const { html } = await browser.open(`${example.url}/callback?${callback}`);
    expect(html).toContain('<h1>Not connected</h1>');
    expect(html).toContain('&lt;script>');
    expect(html).not.toMatch(/<script>|<img/);
  });

  it('has a page for unknown addresses', async () => {
    const response = await fetch(`${example.url}/nothing`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('<h1>Page not found</h1>');
  });
});
