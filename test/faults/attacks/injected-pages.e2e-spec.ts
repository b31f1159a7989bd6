import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { operationEntries, publishedDocument } from '../../support/published-document.js';
import { sendBytes } from '../../support/raw-request.js';
import type { GeneratedRequest } from '../../support/request-arbitraries.js';
import type { TestClient } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { Bystander, expectHarmless, readResponse, type ReadResponse } from './expect-harmless.js';
import { fullRequestsOf } from './request-fields.js';
import { printable, textsFor } from './hostile-texts.js';
import { useAppAndService } from './logging-service.js';
import { routesOf } from './undocumented-paths.js';
import type { IncomingMessage, Server } from 'node:http';

const ACCOUNT = '/account/apps';
const SIGN_IN = '/account/sign-in';
const TEST_TIMEOUT_MS = 120_000;
/** A form field gets every second text of a group only, because each text needs a page of its own. */
const ONE_IN_FORMS = 2;
/** A header gets every fourth text of a group only, because the service reads most headers in several requests. */
const ONE_IN_HEADERS = 4;
/** Belongs to no user, so every code is wrong and no late message reaches a user. */
const UNKNOWN_PHONE = '+14155559999';
const WRONG_CODE = '000000';
const PREFLIGHT = { origin: 'https://garden.example', 'access-control-request-method': 'POST' };
const PARAMETER = /\{?[:*]\w+\}?/;

/** A page and its browser. */
interface Shown {
  visitor: Browser;
  page: Page;
}

onSqlite('Injection through pages', (database) => {
  const { app, service } = useAppAndService(database);
  let bystander: Bystander;
  let member: Member;
  let otherApp: TestClient;
  let link: string;
  let signedIn: Browser;
  let sent = 0;

  beforeAll(async () => {
    bystander = await Bystander.join(app());
    member = await Member.join(app());
    otherApp = await app().addClient();
    link = authorizeLink(member.client, { ui_locales: 'es' });
    signedIn = new Browser(service());
  });
  afterEach(() => bystander.expectUnchanged());

  function expectNoEffect(response: ReadResponse, text: string, what: string): void {
    expectHarmless(response, text, service().baseUrl, what);
    sent += 1;
  }

  /** Opens a page as `member`. Restores their session and the access of apps, which an earlier request may have ended. */
  async function ownPage(path: string): Promise<Shown> {
    const { user, client } = member;
    if (path !== link) for (const each of [client, otherApp]) await app().accessToken(user, each);
    const shown = await signedIn.open(path);
    if (shown.html.includes('name="phone"'))
      await (path === link ? signedIn.signIn(link, user) : signedIn.signInToAccount(user, path));
    // The account page has a form for each other session.
    else if (path !== ACCOUNT || shown.html.includes('/account/sessions/end'))
      return { visitor: signedIn, page: shown };
    if (path === ACCOUNT) await new Browser(service()).signInToAccount(user, path);
    return { visitor: signedIn, page: await signedIn.open(path) };
  }

  /** Opens a page as a stranger. With an `action`, submits the phone form of the page and returns the next page. */
  async function strangerPage(path: string, action?: string): Promise<Shown> {
    const visitor = new Browser(service());
    const page = await visitor.open(path);
    const typed = { phone: UNKNOWN_PHONE };
    return { visitor, page: action ? await visitor.submit(page, action, typed) : page };
  }

  /** One function for each page with forms, which opens it. */
  const pageOpeners = (): (() => Promise<Shown>)[] => [
    () => strangerPage(link),
    () => strangerPage(link, '/oauth/authorize/sign-in'),
    () => strangerPage(ACCOUNT),
    () => strangerPage(ACCOUNT, '/account/sign-in'),
    () => ownPage(link),
    () => ownPage(ACCOUNT),
    () => ownPage(`${ACCOUNT}/${member.client.clientId}`),
  ];

  /** The fields of a form, with a phone and a wrong code in the empty ones. */
  function filled(page: Page, action: string): URLSearchParams {
    const form = formsOf(page.html).find((each) => each.action === action);
    if (form === undefined) throw new Error(`No form posts to ${action}:\n${page.html}`);
    const typed: Record<string, string> = { phone: UNKNOWN_PHONE, code: WRONG_CODE };
    return new URLSearchParams(
      Object.entries(form.fields).map(([name, value]) => [name, value || (typed[name] ?? '')]),
    );
  }

  const documented = operationEntries(publishedDocument()).map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  );
  /** Paths of undocumented routes. */
  const undocumentedPaths = (method: string): string[] =>
    routesOf(app().nest)
      .filter((route) => route.method === method && !documented.includes(`${method} ${route.path}`))
      .map(({ path }) => path);

  it('executes no hostile text in a form field', { timeout: TEST_TIMEOUT_MS }, async ({ task }) => {
    const actions = new Set<string>();
    const accepted = new Set<string>();
    let fields = 0;
    for (const open of pageOpeners())
      for (const { action, fields: own } of formsOf((await open()).page.html)) {
        actions.add(action);
        for (const name of [...Object.keys(own), undefined]) {
          for (const text of textsFor(fields, { oneIn: ONE_IN_FORMS })) {
            const { visitor, page } = await open();
            const body = filled(page, action);
            body.set(name ?? text, name === undefined ? 'x' : text);
            const response = await visitor.post(action, body);
            expectNoEffect(readPage(response), text, `${action} ${name ?? '(unknown name)'}`);
            if (response.status < 400) accepted.add(action);
          }
          fields += 1;
        }
      }
    const formPaths = undocumentedPaths('POST').filter((path) => !PARAMETER.test(path));
    expect([...actions].toSorted()).toEqual(formPaths.toSorted());
    // The codes are always wrong, so `/verify` accepts no form.
    const acceptable = formPaths.filter((path) => !path.endsWith('/verify'));
    expect([...accepted].toSorted()).toEqual(acceptable.toSorted());
    reportFigure(
      task,
      `${fields} fields of ${actions.size} kinds of forms, each with half of the hostile texts of each kind`,
    );
  });

  it('executes no hostile text in a URL', { timeout: TEST_TIMEOUT_MS }, async ({ task }) => {
    const paths = [...undocumentedPaths('GET'), ...undocumentedPaths('ALL')].filter((path) =>
      PARAMETER.test(path),
    );
    expect(paths).not.toEqual([]);
    const { visitor } = await ownPage(ACCOUNT);
    for (const [index, path] of paths.entries())
      for (const text of textsFor(index)) {
        const encoded = encodeURIComponent(text);
        const address = `${path.replace(PARAMETER, () => encoded)}?${encoded}=${encoded}`;
        const response = await visitor.open(address);
        expectNoEffect(readPage(response), text, path);
        expect(response.status, path).toBeOneOf([303, 400, 404]);
        expect(response.location, path).toBeOneOf([null, ACCOUNT]);
      }
    reportFigure(task, `hostile texts in ${paths.length} kinds of URLs`);
  });

  it('executes no hostile text in a cookie', { timeout: TEST_TIMEOUT_MS }, async ({ task }) => {
    const { visitor } = await ownPage(link);
    const cookies = [...visitor.cookies];
    expect(cookies).not.toEqual([]);
    for (const [index, [name]] of cookies.entries())
      for (const text of textsFor(index))
        for (const value of [encodeURIComponent(text), printable(text)])
          for (const path of [link, ACCOUNT]) {
            const others = cookies.filter(([another]) => another !== name);
            const cookie = [...others, [name, value]].map((pair) => pair.join('=')).join('; ');
            const response = await readResponse(
              await service().fetch(path, { headers: { cookie } }),
            );
            expectNoEffect(response, text, `${path} ${name}`);
          }
    reportFigure(task, `hostile texts in ${cookies.length} cookies`);
  });

  it(
    'executes no hostile text in a header that the service reads',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      const page = { method: 'GET', headers: {} };
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const requests: GeneratedRequest[] = [
        ...(await fullRequestsOf(await Member.join(app()))).values(),
        { ...page, path: link },
        { ...page, path: ACCOUNT },
        { method: 'OPTIONS', path: '/oauth/token', headers: PREFLIGHT },
        { method: 'OPTIONS', path: '/dev/v1/me', headers: PREFLIGHT },
        { method: 'POST', path: SIGN_IN, headers: form, body: 'phone=x' },
      ];
      const headerFields: { name: string; request: GeneratedRequest }[] = [];
      for (const request of requests) {
        const names = await headersReadDuring(app().nest.getHttpServer(), async () => {
          const { status } = await sendOver(app().baseUrl, request);
          if (request.path !== SIGN_IN) expect(status, request.path).toBeLessThan(400);
        });
        headerFields.push(...names.map((name) => ({ name, request })));
      }
      const names = new Set(headerFields.map(({ name }) => name));
      expect([...names]).toEqual(
        expect.arrayContaining(['authorization', 'cookie', 'origin', 'x-request-id']),
      );
      for (const [index, { name, request }] of headerFields.entries())
        for (const text of textsFor(index, { oneIn: ONE_IN_HEADERS })) {
          const more = { [name]: printable(text) };
          const response = await sendOver(service().baseUrl, request, more);
          expectNoEffect(response, text, `${request.method} ${request.path} ${name}`);
        }
      reportFigure(task, `hostile texts in ${names.size} headers that the service reads`);
    },
  );

  it('writes one JSON object per line to the log, without hostile texts', async ({ task }) => {
    const lines = await service().expectCleanLog();
    expect(lines).toBeGreaterThanOrEqual(sent);
    reportFigure(task, `${sent} hostile requests to pages, ${lines} lines of JSON`);
  });
});

function readPage({ status, headers, html }: Page): ReadResponse {
  return { status, headers, body: html };
}

/** Sends a request over a connection of its own. The values of the `more` headers may be ones that HTTP clients reject. */
async function sendOver(
  url: string,
  { method, path, headers, body = '' }: GeneratedRequest,
  more: Record<string, string> = {},
): Promise<ReadResponse> {
  const bytes = Buffer.from(body).toString('latin1');
  const usual = { host: new URL(url).host, connection: 'close', 'content-length': bytes.length };
  const lines = Object.entries({ ...usual, ...headers, ...more }).map((pair) => pair.join(': '));
  return readResponse(await sendBytes(url, [`${method} ${path} HTTP/1.1`, ...lines], bytes));
}

/** A form of a page. */
interface Form {
  action: string;
  /** Initial values by field name; of fields with the same name, the last one. */
  fields: Record<string, string>;
}

/** The forms of a page, in order. */
function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inside = '']) => ({ action, fields: fieldsIn(inside) }),
  );
}

function fieldsIn(html: string): Record<string, string> {
  const tags = [
    ...html.matchAll(/<(?:input|button|select|textarea)\b[^>]*\bname="([^"]*)"[^>]*>/g),
  ];
  return Object.fromEntries(
    tags.map(([tag, name = '']) => [name, /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '']),
  );
}

/** Lower-case names of the request headers that the service reads during `work`, whether they are sent or not. */
async function headersReadDuring(server: Server, work: () => Promise<unknown>): Promise<string[]> {
  const names = new Set<string>();
  const watch = (request: IncomingMessage): void => {
    for (const part of ['headers', 'headersDistinct'] as const)
      Object.defineProperty(request, part, { value: watched(request[part], names) });
  };
  server.prependListener('request', watch);
  try {
    await work();
  } finally {
    server.removeListener('request', watch);
  }
  return [...names].toSorted();
}

function watched<T extends object>(headers: T, names: Set<string>): T {
  return new Proxy(headers, {
    get: (target, name) => {
      if (typeof name === 'string') names.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
}
