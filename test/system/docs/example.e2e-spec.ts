import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { type Page, Browser } from '../../support/browser.js';
import { Cluster } from '../../support/cluster.js';
import { CommandLine, runCommand } from '../../support/command-line.js';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const ANA = { phone: '+14155550101' };

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

/** Follows the button of the example. Returns the authorization request to which it redirects. */
async function connect(browser: Browser, example: Example): Promise<string> {
  const { html } = await browser.open(example.url);
  const href = /<a class="button" href="(.*?)"/.exec(html)?.[1] ?? '';
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

  /** Connects the example and signs in as Ana. Returns the consent page. */
  async function signIn(browser: Browser, from = example): Promise<Page> {
    const page = await browser.signIn(await connect(browser, from), ANA);
    // If an earlier test gave the app every scope.
    const change = /href="([^"]*\?change=1)"/.exec(page.html)?.[1];
    return change === undefined ? page : browser.open(change);
  }

  /** Runs the flow as Ana. Returns the HTML of the result page of the example. */
  async function runFlow(
    scope: string[],
    { decision = 'approve', from = example } = {},
  ): Promise<string> {
    const browser = newBrowser();
    const consent = await signIn(browser, from);
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

  it('runs the complete flow as the public app of the demo', async () => {
    const result = await runFlow([...SCOPES]);
    expect(result).toContain('<h1>Connected</h1>');
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

  it('runs the complete flow as a confidential app that the operator registered', async () => {
    const port = String(await freePort());
    const app = await new CommandLine(database).json<Record<string, string>>(
      ...['app', 'create', '--name', 'Garden Share', '--scope', SCOPES.join(' ')],
      ...['--redirect-uri', `http://127.0.0.1:${port}/callback`],
    );
    const confidential = await Example.start({
      ISSUER: service.baseUrl,
      CLIENT_ID: app.client_id ?? '',
      CLIENT_SECRET: app.client_secret ?? '',
      PORT_EXAMPLE: port,
    });
    onTestFinished(() => confidential.stop());
    const result = await runFlow([...SCOPES], { from: confidential });
    expect(result).toContain('<h1>Connected</h1>');
    expect(linesOf(result, 'Published post')).toHaveLength(2);
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
