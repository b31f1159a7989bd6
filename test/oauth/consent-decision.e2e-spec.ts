import { SCOPES } from '../../src/platform/access/scopes.js';
import { AppRedirectUri } from '../../src/modules/oauth/clients/client.entities.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink, exchange, redirectParameters } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { concurrently } from '../support/cluster.js';
import { differentFrom } from '../support/invariants.js';
import {
  expectPage,
  expectErrorRedirect,
  json,
  countGrantsAndCodes,
  STATE,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, SIGN_OUT, DECISION } from '../support/sign-in.js';

const MINUTE = 60_000;
const ALLOW_ALL = { scope: [...SCOPES], decision: 'approve' };

onOneEngine('Consent decision', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let visitor: Browser;

  beforeEach(async () => {
    // Keeps the failures of one test out of the limits of the next.
    app().clock.advance(20 * MINUTE);
    client = await app().addClient();
    visitor = new Browser(app());
  });

  async function consentPage(): Promise<Page> {
    return visitor.signIn(authorizeLink(client), await app().addUser());
  }

  /** Returns the fields that the form of the page sends. */
  function fieldsOf(page: Page): URLSearchParams {
    const form = page.html.slice(page.html.indexOf(DECISION));
    const fields = new URLSearchParams({ decision: 'approve' });
    for (const name of ['transaction', 'token', 'user', 'identity'])
      fields.set(name, new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '');
    for (const scope of SCOPES) fields.append('scope', scope);
    return fields;
  }

  /** Expects that the authorization request has no decision yet and that its user can still decide. */
  async function expectUndecided(page: Page): Promise<void> {
    await expectNothingGranted();
    const done = await visitor.submit(page, DECISION, ALLOW_ALL);
    expect(redirectParameters(done).has('code')).toBe(true);
  }

  async function expectNothingGranted(): Promise<void> {
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  }

  function expectAlreadyDecided(page: Page): void {
    expectPage(page, 409);
    expect(page.title).toMatch(/^Error: You have already responded to this request /);
  }

  it('O18 redirects with 303 and an empty body after Allow', async () => {
    const done = await visitor.submit(await consentPage(), DECISION, ALLOW_ALL);
    expect(done.status).toBe(303);
    expect(done.html).toBe('');
    expect(done.headers.get('cache-control')).toBe('no-store');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
  });

  it.each([
    ['token', 403],
    ['user', 403],
    ['transaction', 400],
    ['decision', 400],
  ])(
    'O30 rejects a form with a missing, empty, wrong or repeated %s with %d',
    async (name, status) => {
      const page = await consentPage();
      const right = fieldsOf(page).get(name) ?? '';
      for (const values of [[], [''], [differentFrom(right)], [right, right]]) {
        const fields = fieldsOf(page);
        fields.delete(name);
        for (const value of values) fields.append(name, value);
        expectPage(await visitor.post(DECISION, fields), status);
      }
      await expectUndecided(page);
    },
  );

  it('O40 shows the consent page again for a form with a missing, wrong or repeated identity of the app', async () => {
    const page = await consentPage();
    const right = fieldsOf(page).get('identity') ?? '';
    expect(right).toMatch(/^[0-9a-f]{64}$/);
    for (const values of [[], [''], [differentFrom(right)], [right, right]]) {
      const fields = fieldsOf(page);
      fields.delete('identity');
      for (const value of values) fields.append('identity', value);
      const again = await visitor.post(DECISION, fields);
      expectPage(again, 200);
      expect(again.html).toContain('name="identity"');
    }
    await expectUndecided(page);
  });

  it.each([
    ['origin', 'https://evil.example'],
    ['origin', 'null'],
    ['origin', 'https://127.0.0.1'],
    ['origin', ''],
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
  ])('O30 rejects a form with the header %s: "%s"', async (name, value) => {
    const page = await consentPage();
    expectPage(await visitor.post(DECISION, fieldsOf(page), { [name]: value }), 403);
    await expectUndecided(page);
  });

  it('rejects a form in JSON, without a body, above the size limit, with malformed percent-encoding or in another charset than UTF-8', async () => {
    const page = await consentPage();
    const post = async (body: string | null, type: string): Promise<number> => {
      const headers = { cookie: visitor.cookie(), 'content-type': type };
      return (await app().fetch(DECISION, { method: 'POST', headers, body })).status;
    };
    expect(await post('{"decision":"approve"}', 'application/json')).toBe(400);
    expect(await post(null, 'application/x-www-form-urlencoded')).toBe(400);
    expect(await post('x'.repeat(20_000), 'application/x-www-form-urlencoded')).toBe(400);
    expect(await post('%zz', 'application/x-www-form-urlencoded')).toBe(400);
    const latin = 'application/x-www-form-urlencoded; charset=ISO-8859-1';
    expect(await post(fieldsOf(page).toString(), latin)).toBe(400);
    await expectUndecided(page);
  });

  it('O31 rejects the form in another browser, even with a session', async () => {
    const page = await consentPage();
    const otherBrowser = new Browser(app());
    expectPage(await otherBrowser.post(DECISION, fieldsOf(page)), 403);
    await otherBrowser.signIn(authorizeLink(client), await app().addUser());
    expectPage(await otherBrowser.post(DECISION, fieldsOf(page)), 403);
    await expectUndecided(page);
  });

  it('O31 rejects the form in another browser in which the same user is signed in', async () => {
    const user = await app().addUser();
    const page = await visitor.signIn(authorizeLink(client), user);
    const second = new Browser(app());
    app().clock.advance(MINUTE + 1000);
    const secondPage = await second.signIn(authorizeLink(client, { state: 'second' }), user);
    expectPage(await second.post(DECISION, fieldsOf(page)), 403);
    await expectUndecided(page);
    const redirect = redirectParameters(await second.submit(secondPage, DECISION, ALLOW_ALL));
    expect(redirect.get('state')).toBe('second');
  });

  it('O32 rejects the form after the user signed out', async () => {
    const page = await consentPage();
    await visitor.submit(page, SIGN_OUT);
    expectPage(await visitor.submit(page, DECISION, ALLOW_ALL), 403);
    await expectNothingGranted();
  });

  it.each(['for the same request', 'in another tab'])(
    'O32 rejects the form of the first user after another user signed in %s',
    async (where) => {
      const page = await consentPage();
      const isSame = where === 'for the same request';
      const signedIn = isSame ? page : await visitor.open(authorizeLink(client));
      const phonePage = await visitor.submit(signedIn, SIGN_OUT);
      const otherUsersPage = await visitor.signInOn(phonePage, await app().addUser());
      expectPage(await visitor.submit(page, DECISION, ALLOW_ALL), 403);
      await expectUndecided(otherUsersPage);
    },
  );

  it('O33 returns 409 and no second authorization code for a second decision', async () => {
    const page = await consentPage();
    await visitor.submit(page, DECISION, ALLOW_ALL);
    for (const decision of ['approve', 'deny'])
      expectAlreadyDecided(await visitor.submit(page, DECISION, { ...ALLOW_ALL, decision }));
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
  });

  it('O33 issues one code for twenty concurrent decisions and returns 409 to the others', async () => {
    const page = await consentPage();
    const responses = await concurrently(20, () => visitor.submit(page, DECISION, ALLOW_ALL));
    const losers = responses.filter(({ status }) => status !== 303);
    expect(losers).toHaveLength(19);
    for (const loser of losers) expectAlreadyDecided(loser);
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
  });

  it('O34 O148 completes two requests in two tabs of one browser', async () => {
    const first = await consentPage();
    const second = await visitor.open(authorizeLink(client, { state: 'tab-2' }));
    await expectBothComplete(first, second);
  });

  it('O34 completes two requests in tabs that were opened before the sign-in', async () => {
    const user = await app().addUser();
    const waiting = await visitor.open(authorizeLink(client, { state: 'tab-2' }));
    const first = await visitor.signIn(authorizeLink(client), user);
    await expectBothComplete(first, await visitor.submit(waiting, SIGN_IN, { phone: user.phone }));
    await app().service(SmsQueue).idle();
    expect(app().sms.count(user.phone)).toBe(1);
  });

  async function expectBothComplete(first: Page, second: Page): Promise<void> {
    for (const [page, state] of [
      [second, 'tab-2'],
      [first, STATE],
    ] as const) {
      const redirect = redirectParameters(await visitor.submit(page, DECISION, ALLOW_ALL));
      expect(redirect.get('state')).toBe(state);
      expect((await exchange(app(), client, redirect.get('code') ?? '')).status).toBe(200);
    }
  }

  it.each(['login', 'select_account'])(
    'O34 asks for another code in a waiting tab with prompt=%s',
    async (prompt) => {
      const user = await app().addUser();
      const waiting = await visitor.open(authorizeLink(client, { prompt }));
      await visitor.signIn(authorizeLink(client), user);
      const page = await visitor.submit(waiting, SIGN_IN, { phone: user.phone });
      expect(page.html).toContain('name="code"');
      await expect.poll(() => app().sms.count(user.phone)).toBe(2);
    },
  );

  it('O34 signs in the user of another phone that is typed into a waiting tab', async () => {
    const [user, other] = [await app().addUser(), await app().addUser()];
    const waiting = await visitor.open(authorizeLink(client));
    await visitor.signIn(authorizeLink(client), user);
    const consent = await visitor.signInOn(waiting, other);
    expect(consent.html).toContain(other.name);
    expect(consent.html).not.toContain(user.name);
  });

  it('O35 accepts a decision for fifteen minutes', async () => {
    const page = await consentPage();
    const late = await visitor.open(authorizeLink(client));
    app().clock.advance(15 * MINUTE - 1);
    const done = await visitor.submit(page, DECISION, ALLOW_ALL);
    expect(redirectParameters(done).has('code')).toBe(true);
    app().clock.advance(1);
    const expired = await visitor.submit(late, DECISION, ALLOW_ALL);
    expectPage(expired, 400);
    expect(expired.html).toContain('start again');
  });

  it.each([
    ['Cancel', { decision: 'deny' }],
    ['Refuse, which only text browsers show', { decision: 'refuse' }],
    ['Allow without a selected scope', { decision: 'approve' }],
    ['Allow with only scopes that were not requested', { ...ALLOW_ALL, scope: 'posts.write' }],
  ])('O36 O37 O38 redirects with access_denied after %s and grants nothing', async (_, fields) => {
    const link = authorizeLink(client, { scope: 'profile.read' });
    const page = await visitor.signIn(link, await app().addUser());
    const done = await visitor.submit(page, DECISION, fields);
    expectErrorRedirect(done, client, 'access_denied');
    await expectNothingGranted();
  });

  it('O38 ignores a posted scope that the app did not request', async () => {
    const link = authorizeLink(client, { scope: 'profile.read posts.read' });
    const page = await visitor.signIn(link, await app().addUser());
    const scope = ['posts.write', 'posts.read', 'posts.read', '*', 'profile.read posts.write'];
    const done = await visitor.submit(page, DECISION, { scope, decision: 'approve' });
    const response = await exchange(app(), client, redirectParameters(done).get('code') ?? '');
    expect((await json<TokenBody>(response)).scope).toBe('posts.read');
  });

  it('O39 issues no code to an app that was disabled while the user decided', async () => {
    const page = await consentPage();
    const apps = app().service(AppsService);
    await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
    expectPage(await visitor.submit(page, DECISION, ALLOW_ALL), 400);
    await expectNothingGranted();
  });

  it('O39 issues no code for a redirect URI that was removed while the user decided', async () => {
    const page = await consentPage();
    await app().dataSource.getRepository(AppRedirectUri).delete({ clientId: client.clientId });
    const rejected = await visitor.submit(page, DECISION, ALLOW_ALL);
    expectPage(rejected, 400);
    expect(rejected.html).toContain('is no longer registered for the app');
    expect(rejected.html).not.toContain('was disabled');
    await expectNothingGranted();
  });
});
