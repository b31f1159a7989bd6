import { SCOPES } from '../../src/platform/access/scopes.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onSqlite } from '../support/database.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, DECISION } from '../support/sign-in.js';

const REVOKE = '/account/apps/revoke';
const DAY = 24 * 3_600_000;

/** Texts that are equal in both languages. */
const UNTRANSLATED = [
  'G',
  'A',
  'Error:',
  'Garden Share',
  'garden.example',
  'Ana Lee',
  'client_id',
  'client_secret',
  '/oauth/authorize',
  '/oauth/token',
  'state',
  'scope',
  'S256',
  'GET /dev/v1/me\nAuthorization: Bearer &lt;access token&gt;',
  '.',
  ').',
];
const PHONE = /^\+1 ?[\d•]+( [\d•]+)*$/;
const ACCOUNT_URL = /^http:\/\/127\.0\.0\.1:\d+\/account\/apps$/;
/** An option of the list of countries, of which many have the same name in both languages. */
const COUNTRY = / \(\+\d+\)$/;
/** In the small print of error pages. */
const ERROR_CODE = /^(expired|[a-z]+_[a-z_]+)$/;

/** English words that do not exist in Spanish. */
const ENGLISH = /\b(the|you|your|this|that|and|with|was|not|is|it|to|of|for|what)\b/i;

/** Returns every text of a page, including its title, except those marked as English. */
function textsOf({ html }: Page): string[] {
  return html
    .replaceAll(/<span lang="en">.*?<\/span>/gs, '')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

onSqlite('Pages in Spanish', (database) => {
  const app = useTestApp(database, { OTP_COUNTRIES: 'US' });

  /** Returns every page for users except the public page of a post, in the language that the browser accepts. */
  async function pagesIn(language: 'en' | 'es'): Promise<Map<string, Page>> {
    const pages = new Map<string, Page>();
    const addPage = async (name: string, response: Promise<Page>): Promise<Page> => {
      const page = await response;
      expect(page.headers.get('content-language'), name).toBe(language);
      pages.set(name, page);
      return page;
    };
    const newVisitor = (): Browser => new Browser(app(), { 'accept-language': language });
    const client = await app().addClient();
    const link = authorizeLink(client);
    await addSignInPages(addPage, newVisitor, link);
    await addConsentPages(addPage, newVisitor(), link);
    await addErrorPages(addPage, newVisitor(), client);
    await addAccountPages(addPage, newVisitor(), client);
    await addPage('landing', newVisitor().open('/'));
    return pages;
  }

  type AddPage = (name: string, response: Promise<Page>) => Promise<Page>;

  async function addSignInPages(
    addPage: AddPage,
    newVisitor: () => Browser,
    link: string,
  ): Promise<void> {
    const visitor = newVisitor();
    const { phone } = await app().addUser();
    const phonePage = await addPage('phone', visitor.open(link));
    await addPage('not a phone', visitor.submit(phonePage, SIGN_IN, { phone: 'nobody' }));
    await addPage('another country', visitor.submit(phonePage, SIGN_IN, { phone: '+34612345678' }));
    const codePage = await addPage('code', visitor.submit(phonePage, SIGN_IN, { phone }));
    const again = { phone, again: '1' };
    await addPage('too soon, on the code page', visitor.submit(codePage, SIGN_IN, again));
    const otherBrowser = newVisitor();
    const otherPhonePage = await otherBrowser.open(link);
    await addPage(
      'too soon, in another browser',
      otherBrowser.submit(otherPhonePage, SIGN_IN, { phone }),
    );
    await addPage('not a code', visitor.submit(codePage, VERIFY, { code: 'x' }));
    await app().sms.password(phone);
    app().clock.advance(61_000);
    await addPage('sent again', visitor.submit(codePage, SIGN_IN, again));
    const right = await app().sms.password(phone, { afterMessages: 1 });
    const wrong = { code: right === '000000' ? '111111' : '000000' };
    await addPage('wrong code', visitor.submit(codePage, VERIFY, wrong));
    for (let guess = 0; guess < 4; guess += 1) await visitor.submit(codePage, VERIFY, wrong);
    await addPage('closed code', visitor.submit(codePage, VERIFY, wrong));
    app().clock.advance(61_000);
    await visitor.submit(codePage, SIGN_IN, { phone });
    for (let guess = 0; guess < 5; guess += 1) await visitor.submit(codePage, VERIFY, wrong);
    await addPage('too many attempts', visitor.submit(codePage, SIGN_IN, { phone }));
    app().clock.advance(DAY);
    await addPage('expired', visitor.submit(codePage, SIGN_IN, { phone }));
  }

  async function addConsentPages(addPage: AddPage, visitor: Browser, link: string): Promise<void> {
    const user = await app().addUser({ name: 'Ana Lee' });
    const consent = await addPage('consent', visitor.signIn(link, user));
    await addPage('incomplete', visitor.submit(consent, DECISION));
    await addPage('forged form', visitor.submit(consent, DECISION, { token: 'x' }));
    await visitor.submit(consent, DECISION, { decision: 'approve', scope: [...SCOPES] });
    await addPage('repeated consent', visitor.open(link));
    await addPage('already decided', visitor.submit(consent, DECISION, { decision: 'deny' }));
  }

  async function addErrorPages(
    addPage: AddPage,
    visitor: Browser,
    client: TestClient,
  ): Promise<void> {
    const link = authorizeLink(client);
    await addPage('unknown app', visitor.open('/oauth/authorize?client_id=x'));
    const otherRedirect = authorizeLink(client, { redirect_uri: 'https://evil.example/' });
    await addPage('unknown redirect', visitor.open(otherRedirect));
    await addPage('broken link', visitor.open('/oauth/authorize?client_id=%zz'));
    await addPage('long link', visitor.open(authorizeLink(client, { state: 'x'.repeat(4_097) })));
    await addPage('wrong request', visitor.open(authorizeLink(client, { response_type: 'token' })));
    await addPage('not a page', visitor.open(VERIFY));
    const page = await visitor.open(link);
    await app()
      .service(AppsService)
      .update(client.clientId, { redirectUris: ['https://other.example/'] }, { actor: 'test' });
    await addPage('changed app', visitor.submit(page, SIGN_IN, { phone: '+14155550100' }));
    visitor.cookies.clear();
    await addPage('no cookies', visitor.submit(page, SIGN_IN, { phone: '+14155550100' }));
  }

  async function addAccountPages(
    addPage: AddPage,
    visitor: Browser,
    client: TestClient,
  ): Promise<void> {
    const user = await app().addUser({ name: 'Ana Lee' });
    const clients = [client, ...(await Promise.all([1, 2, 3].map(() => app().addClient())))];
    for (const each of clients) await app().accessToken(user, each);
    await addPage('sign in to the account', visitor.open('/account/apps'));
    const list = await addPage('apps', visitor.signInToAccount(user));
    const idOf = (index: number): string => clients[index]?.clientId ?? '';
    const appPage = await addPage('one app', visitor.open(`/account/apps/${idOf(0)}`));
    await addPage('removed', visitor.submit(appPage, REVOKE));
    await addPage('removed before', visitor.submit(appPage, REVOKE));
    await addPage('not connected', visitor.open(`/account/apps/${idOf(0)}`));
    await addPage('no apps', visitor.submit(list, REVOKE, { all: '1' }));
    app().clock.advance(DAY);
    await addPage('signed out', visitor.submit(list, REVOKE, { all: '1' }));
  }

  let loaded: Promise<[string, Page, Page][]> | undefined;

  /** Returns the name of each page with its English and its Spanish version. They are loaded once for all tests. */
  function everyPage(): Promise<[string, Page, Page][]> {
    loaded ??= (async () => {
      const english = await pagesIn('en');
      const spanish = await pagesIn('es');
      expect([...spanish.keys()]).toEqual([...english.keys()]);
      return [...english].map(([name, page]) => [name, page, spanish.get(name) as Page]);
    })();
    return loaded;
  }

  it('translates every text', async () => {
    const pages = await everyPage();
    expect(pages).toHaveLength(34);
    for (const [name, english, spanish] of pages) {
      const known = new Set(textsOf(english));
      const sharedTexts = textsOf(spanish).filter(
        (text) => known.has(text) && !UNTRANSLATED.includes(text),
      );
      const untranslated = sharedTexts.filter(
        (text) => ![PHONE, ACCOUNT_URL, COUNTRY, ERROR_CODE].some((pattern) => pattern.test(text)),
      );
      expect({ name, untranslated }).toEqual({ name, untranslated: [] });
    }
  });

  it('has no English word in a Spanish text', async () => {
    for (const [name, , spanish] of await everyPage()) {
      const mixed = textsOf(spanish).filter(
        (text) => !UNTRANSLATED.includes(text) && ENGLISH.test(text),
      );
      expect({ name, mixed }).toEqual({ name, mixed: [] });
    }
  });

  it('has the same status, forms and text elements in both languages', async () => {
    const shapeOf = ({ status, html }: Page): object => ({
      status,
      forms: html.match(/<form[^>]*>/g),
      fields: html.match(/ name="\w+"/g),
      texts: html.match(/<(p|li|h1|h2|h3|legend|button)\b/g),
    });
    for (const [name, english, spanish] of await everyPage())
      expect([name, shapeOf(spanish)]).toEqual([name, shapeOf(english)]);
  });

  it('has a different text for every page', async () => {
    const plain = (await everyPage()).map(([, , spanish]) => textsOf(spanish).join('\n'));
    expect(new Set(plain).size).toBe(plain.length);
  });
});
