import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { placesOf, publishedDocument } from '../../support/published-document.js';
import { sendBytes } from '../../support/raw-request.js';
import type { MadeRequest } from '../../support/request-arbitraries.js';
import type { TestClient } from '../../support/test-app.js';
import { show } from '../figures.js';
import { Bystander } from './bystander.js';
import { fullRequestsOf } from './fields.js';
import { formsOf } from './forms.js';
import { expectHarmless, heard, type Heard } from './harmless.js';
import { printable, textsFor } from './hostile.js';
import { useBoth } from './logging-service.js';
import { headersReadDuring } from './read-headers.js';
import { routesOf } from './routes.js';

const ACCOUNT = '/account/apps';
const SIGN_IN = '/account/sign-in';
const LONG_MS = 120_000;
/** Of the texts of each kind, for each field of a form: each takes a page of its own. */
const ONE_IN_FORMS = 2;
/** The same for each header of a request: nearly every request has the same few read. */
const ONE_IN_HEADERS = 4;
/** Nobody's, so that no code is right, and no message comes late to the phone of a member. */
const STRANGERS_PHONE = '+14155559999';
const WRONG_CODE = '000000';
const PREFLIGHT = { origin: 'https://garden.example', 'access-control-request-method': 'POST' };
const PARAMETER = /\{?[:*]\w+\}?/;

/** A page, and whose browser shows it. */
interface Shown {
  visitor: Browser;
  page: Page;
}

onSqlite('Texts that are code elsewhere, on the way to a page,', (database) => {
  const { app, service } = useBoth(database);
  let bystander: Bystander;
  let member: Member;
  let other: TestClient;
  let link: string;
  let signedIn: Browser;
  let sent = 0;

  beforeAll(async () => {
    bystander = await Bystander.join(app());
    member = await Member.join(app());
    other = await app().addClient();
    link = authorizeLink(member.client, { ui_locales: 'es' });
    signedIn = new Browser(service());
  });
  afterEach(() => bystander.expectUntouched());

  function expectNothing(answer: Heard, text: string, what: string): void {
    expectHarmless(answer, text, service().baseUrl, what);
    sent += 1;
  }

  /** The page, also where an earlier text has ended the session or the access of apps. */
  async function ownPage(path: string): Promise<Shown> {
    const { user, client } = member;
    if (path !== link) for (const each of [client, other]) await app().accessToken(user, each);
    const page = await signedIn.open(path);
    if (!page.html.includes('name="phone"')) return { visitor: signedIn, page };
    const signIn =
      path === link ? signedIn.signIn(link, user) : signedIn.signInToAccount(user, path);
    return { visitor: signedIn, page: await signIn };
  }

  /** Before and after a phone was typed into it. */
  async function strangersPage(path: string, action?: string): Promise<Shown> {
    const visitor = new Browser(service());
    const page = await visitor.open(path);
    const typed = { phone: STRANGERS_PHONE };
    return { visitor, page: action ? await visitor.submit(page, action, typed) : page };
  }

  const everyPage = (): (() => Promise<Shown>)[] => [
    () => strangersPage(link),
    () => strangersPage(link, '/oauth/authorize/sign-in'),
    () => strangersPage(ACCOUNT),
    () => strangersPage(ACCOUNT, '/account/sign-in'),
    () => ownPage(link),
    () => ownPage(ACCOUNT),
    () => ownPage(`${ACCOUNT}/${member.client.clientId}`),
  ];
  /** What the browser would send, with a phone and a wrong code where something is to be typed. */
  function filled(page: Page, action: string): URLSearchParams {
    const form = formsOf(page.html).find((each) => each.action === action);
    if (form === undefined) throw new Error(`No form posts to ${action}:\n${page.html}`);
    const typed: Record<string, string> = { phone: STRANGERS_PHONE, code: WRONG_CODE };
    return new URLSearchParams(
      Object.entries(form.fields).map(([name, value]) => [name, value || (typed[name] ?? '')]),
    );
  }

  const declared = placesOf(publishedDocument()).map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  );
  /** What is no operation of the document. */
  const pathsOf = (method: string): string[] =>
    routesOf(app().nest)
      .filter((route) => route.method === method && !declared.includes(`${method} ${route.path}`))
      .map(({ path }) => path);

  it('in a field of a form, do nothing', { timeout: LONG_MS }, async ({ task }) => {
    const actions = new Set<string>();
    const accepted = new Set<string>();
    let fields = 0;
    for (const open of everyPage())
      for (const { action, fields: own } of formsOf((await open()).page.html)) {
        actions.add(action);
        for (const name of [...Object.keys(own), undefined]) {
          for (const text of textsFor(fields, ONE_IN_FORMS)) {
            const { visitor, page } = await open();
            const body = filled(page, action);
            body.set(name ?? text, name === undefined ? 'x' : text);
            const answer = await visitor.post(action, body);
            expectNothing(told(answer), text, `${action} ${name ?? '(a name)'}`);
            if (answer.status < 400) accepted.add(action);
          }
          fields += 1;
        }
      }
    const known = pathsOf('POST').filter((path) => !PARAMETER.test(path));
    expect([...actions].toSorted()).toEqual(known.toSorted());
    // But for wrong codes.
    const right = known.filter((path) => !path.endsWith('/verify'));
    expect([...accepted].toSorted()).toEqual(right.toSorted());
    show(
      task,
      `${fields} fields of ${actions.size} kinds of forms, half of the hostile texts of each kind in each`,
    );
  });

  it('in an address, do nothing', { timeout: LONG_MS }, async ({ task }) => {
    const paths = [...pathsOf('GET'), ...pathsOf('ALL')].filter((path) => PARAMETER.test(path));
    expect(paths).not.toEqual([]);
    const { visitor } = await ownPage(ACCOUNT);
    for (const [at, path] of paths.entries())
      for (const text of textsFor(at)) {
        const encoded = encodeURIComponent(text);
        const address = `${path.replace(PARAMETER, () => encoded)}?${encoded}=${encoded}`;
        const answer = await visitor.open(address);
        expectNothing(told(answer), text, path);
        expect(answer.status, path).toBeOneOf([303, 400, 404]);
        expect(answer.location, path).toBeOneOf([null, ACCOUNT]);
      }
    show(task, `hostile texts in ${paths.length} kinds of addresses`);
  });

  it('in a cookie, do nothing', { timeout: LONG_MS }, async ({ task }) => {
    const { visitor } = await ownPage(link);
    const cookies = [...visitor.cookies];
    expect(cookies).not.toEqual([]);
    for (const [at, [name]] of cookies.entries())
      for (const text of textsFor(at))
        for (const value of [encodeURIComponent(text), printable(text)])
          for (const path of [link, ACCOUNT]) {
            const others = cookies.filter(([another]) => another !== name);
            const cookie = [...others, [name, value]].map((pair) => pair.join('=')).join('; ');
            const answer = await heard(await service().fetch(path, { headers: { cookie } }));
            expectNothing(answer, text, `${path} ${name}`);
          }
    show(task, `hostile texts in ${cookies.length} cookies`);
  });

  it('in a header that the service reads, do nothing', { timeout: LONG_MS }, async ({ task }) => {
    const page = { method: 'GET', headers: {} };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const requests: MadeRequest[] = [
      ...(await fullRequestsOf(await Member.join(app()))).values(),
      { ...page, path: link },
      { ...page, path: ACCOUNT },
      { method: 'OPTIONS', path: '/oauth/token', headers: PREFLIGHT },
      { method: 'OPTIONS', path: '/dev/v1/me', headers: PREFLIGHT },
      { method: 'POST', path: SIGN_IN, headers: form, body: 'phone=x' },
    ];
    const places: { name: string; request: MadeRequest }[] = [];
    for (const request of requests) {
      const names = await headersReadDuring(app().nest.getHttpServer(), async () => {
        const { status } = await sendOver(app().baseUrl, request);
        if (request.path !== SIGN_IN) expect(status, request.path).toBeLessThan(400);
      });
      places.push(...names.map((name) => ({ name, request })));
    }
    const names = new Set(places.map(({ name }) => name));
    expect([...names]).toEqual(
      expect.arrayContaining(['authorization', 'cookie', 'origin', 'x-request-id']),
    );
    for (const [at, { name, request }] of places.entries())
      for (const text of textsFor(at, ONE_IN_HEADERS)) {
        const more = { [name]: printable(text) };
        const answer = await sendOver(service().baseUrl, request, more);
        expectNothing(answer, text, `${request.method} ${request.path} ${name}`);
      }
    show(task, `hostile texts in ${names.size} headers that the service reads`);
  });

  it('stay out of the log, which is one JSON object a line', async ({ task }) => {
    const lines = await service().expectCleanLog();
    expect(lines).toBeGreaterThanOrEqual(sent);
    show(task, `${sent} hostile requests on the way to pages, ${lines} lines of JSON`);
  });
});

function told({ status, headers, html }: Page): Heard {
  return { status, headers, body: html };
}

/** Sends a request over a connection of its own, with `more` headers as they are, even those that clients would refuse to send. */
async function sendOver(
  url: string,
  { method, path, headers, body = '' }: MadeRequest,
  more: Record<string, string> = {},
): Promise<Heard> {
  const bytes = Buffer.from(body).toString('latin1');
  const usual = { host: new URL(url).host, connection: 'close', 'content-length': bytes.length };
  const lines = Object.entries({ ...usual, ...headers, ...more }).map((pair) => pair.join(': '));
  return heard(await sendBytes(url, [`${method} ${path} HTTP/1.1`, ...lines], bytes));
}
