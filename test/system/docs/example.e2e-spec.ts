import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { runCommand } from '../../support/command-line.js';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const ANAS_PHONE = '+14155550101';

/** A browser without scripts that visits two servers. Like every browser, it sends cookies to all ports of a host (RFC 6265 §8.5). */
class Browser {
  private readonly cookies = new Map<string, { name: string; value: string; path: string }>();

  async open(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { origin, pathname } = new URL(url);
    const cookie = [...this.cookies.values()]
      .filter(({ path }) => pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie !== '' && { cookie }), ...(init.method === 'POST' && { origin }) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /; Path=([^;]*)/.exec(line)?.[1] ?? '/';
      this.cookies.set(`${name} ${path}`, { name, value, path });
    }
    return response;
  }

  /** Submits the form of `page` that posts to `action`, with its hidden fields and `fields`. */
  async submit(page: Response, action: string, fields: [string, string][]): Promise<Response> {
    const html = await page.text();
    const form = new RegExp(`<form[^>]*action="${action}".*?</form>`, 's').exec(html)?.[0] ?? '';
    const hidden = [...form.matchAll(/type="hidden" name="(.*?)" value="(.*?)"/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    );
    if (hidden.length === 0) throw new Error(`No form posts to ${action}:\n${html}`);
    const body = new URLSearchParams([...hidden, ...fields]);
    const response = await this.open(new URL(action, page.url), { method: 'POST', body });
    const next = new URL(response.headers.get('location') ?? '', page.url);
    // Follows the redirect to the next page, but not to the app.
    return next.origin === new URL(page.url).origin ? this.open(next) : response;
  }
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

/** Follows the button of the page. Returns the authorization request to which it redirects. */
async function connect(browser: Browser, page: Response): Promise<URL> {
  const href = /<a class="button" href="(.*?)"/.exec(await page.text())?.[1] ?? '';
  const response = await browser.open(new URL(href, page.url));
  expect(response.status).toBe(303);
  return new URL(response.headers.get('location') ?? '');
}

/** Runs the flow as Ana, from the example's link to its result page. Returns the HTML of that page. */
async function runFlow(
  example: Example,
  service: ServiceProcess,
  decision: [string, string][],
): Promise<string> {
  const browser = new Browser();
  const signedIn = await signIn(browser, example, service);
  // The consent page, also if an earlier test gave the app every scope.
  const consent = await browser.open(new URL(`${signedIn.url}?change=1`));
  const decided = await browser.submit(consent, '/oauth/authorize/decision', decision);
  const resultPage = await browser.open(decided.headers.get('location') ?? '');
  return resultPage.text();
}

/** Connects the example and signs in as Ana. Returns the page after the sign-in. */
async function signIn(
  browser: Browser,
  example: Example,
  service: ServiceProcess,
): Promise<Response> {
  const phonePage = await browser.open(await connect(browser, await browser.open(example.url)));
  const earlierMessages = (await messages(service)).length;
  const codePage = await browser.submit(phonePage, '/oauth/authorize/sign-in', [
    ['phone', ANAS_PHONE],
  ]);
  await expect.poll(async () => (await messages(service)).length).toBe(earlierMessages + 1);
  const code = /\b\d{6}\b/.exec((await messages(service)).at(-1) ?? '')?.[0] ?? '';
  return browser.submit(codePage, '/oauth/authorize/verify', [['code', code]]);
}

async function messages({ smsFile }: ServiceProcess): Promise<string[]> {
  const lines = await readFile(smsFile, 'utf8').catch(() => '');
  return lines.split('\n').filter((line) => line !== '');
}

/** The paragraphs of the section with this heading, as HTML. */
function linesOf(html: string, heading: string): string[] {
  const section = html.split('<section>').find((text) => text.includes(`<h2>${heading}</h2>`));
  return [...(section ?? '').matchAll(/<p.*?>(.*?)<\/p>/g)].map(([, line = '']) => line);
}

const SCOPES = ['profile.read', 'posts.read', 'posts.write', 'analytics.read'];
const ALLOW: [string, string] = ['decision', 'approve'];
const allowing = (scopes: string[]): [string, string][] => [
  ...scopes.map((scope): [string, string] => ['scope', scope]),
  ALLOW,
];

onOneEngine('Example app with the demo', (database) => {
  let service: ServiceProcess;
  let example: Example | undefined;

  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '-s', 'build:client']);
    const env = { DEMO: '1', LOG_LEVEL: 'warn' };
    service = await startProcess({ url: database.url, env });
  });
  afterEach(() => example?.stop());
  afterAll(() => service?.stop());

  it('shows the consent page with a box for each scope, also after "demo token"', async () => {
    const token = await runCommand(['demo', 'token'], { DATABASE_URL: database.url, DEMO: '1' });
    expect(token.code).toBe(0);
    example = await Example.start({ ISSUER: service.baseUrl });
    const consent = await (await signIn(new Browser(), example, service)).text();
    expect(consent.match(/<input type="checkbox" name="scope"/g)).toHaveLength(SCOPES.length);
  });

  it('lets the demo user sign in ten times in a row', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    for (let signIns = 1; signIns <= 10; signIns += 1) {
      const page = await signIn(new Browser(), example, service);
      expect([signIns, page.status, new URL(page.url).pathname]).toEqual([
        signIns,
        200,
        expect.stringMatching(/\/consent$/),
      ]);
    }
  });

  it('runs the complete flow as the public app of the demo', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const result = await runFlow(example, service, allowing(SCOPES));
    expect(result).toContain('<h1>Connected</h1>');
    expect(linesOf(result, 'Granted scopes')).toEqual(SCOPES);
    expect(linesOf(result, 'Profile')).toEqual(['Ana Lee', 'Riverside']);
    expect(linesOf(result, 'Published post')[1]).toMatch(
      /^<a href="(http:\/\/127\.0\.0\.1:\d+\/post\/post_\w+)">\1<\/a>$/,
    );
    expect(linesOf(result, 'Newest of 4 posts')[0]).toMatch(/^Hello from a third-party app/);
  });

  it('uses only the granted scopes', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const result = await runFlow(example, service, allowing(['profile.read']));
    expect(linesOf(result, 'Granted scopes')).toEqual(['profile.read']);
    expect(linesOf(result, 'Profile')).toEqual(['Ana Lee', 'Riverside']);
    expect(result).not.toMatch(/<h2>(Published post|Newest)/);
  });

  it('shows access_denied after Cancel', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const result = await runFlow(example, service, [['decision', 'deny']]);
    expect(result).toContain('<h1>Access denied</h1>');
    expect(linesOf(result, 'access_denied')).toHaveLength(1);
  });

  it('runs the complete flow as a confidential app that the operator registered', async () => {
    const port = String(await freePort());
    const app = await register(database.url, `http://127.0.0.1:${port}/callback`);
    example = await Example.start({
      ISSUER: service.baseUrl,
      CLIENT_ID: app.client_id,
      CLIENT_SECRET: app.client_secret,
      PORT_EXAMPLE: port,
    });
    const result = await runFlow(example, service, allowing(SCOPES));
    expect(result).toContain('<h1>Connected</h1>');
    expect(linesOf(result, 'Published post')).toHaveLength(2);
  });

  it('rejects a callback of another browser', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const link = await connect(new Browser(), await fetch(example.url));
    const state = link.searchParams.get('state') ?? '';
    const response = await fetch(`${example.url}/callback?code=svcac_x&state=${state}`);
    expect(response.status).toBe(400);
  });

  it('shows an error without the values of a forged callback as HTML', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const browser = new Browser();
    const link = await connect(browser, await browser.open(example.url));
    const callback = new URL(`${example.url}/callback`);
    callback.search = new URLSearchParams({
      state: link.searchParams.get('state') ?? '',
      iss: service.baseUrl,
      error: '<script>',
      error_description: '<img src="x">',
    }).toString();
    const html = await (await browser.open(callback)).text();
    expect(html).toContain('<h1>Not connected</h1>');
    expect(html).toContain('&lt;script>');
    expect(html).not.toMatch(/<script>|<img/);
  });

  it('has a page for unknown addresses', async () => {
    example = await Example.start({ ISSUER: service.baseUrl });
    const response = await fetch(`${example.url}/nothing`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('<h1>Page not found</h1>');
  });
});

async function register(
  databaseUrl: string,
  redirectUri: string,
): Promise<{ client_id: string; client_secret: string }> {
  const options = ['--name', 'Garden Share', '--redirect-uri', redirectUri, '--json'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['dist/src/bundle/cli.js', 'app', 'create', ...options, '--scope', SCOPES.join(' ')],
    { env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl } },
  );
  return JSON.parse(stdout) as { client_id: string; client_secret: string };
}
