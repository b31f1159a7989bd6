import { MINUTE, DAY } from '../../src/platform/clock.js';
import { TrustedDevice } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser, linkOf, hiddenField } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { differentFrom } from '../support/invariants.js';
import { expectPage } from '../support/responses.js';
import { statementsWithoutBackground, type TestClient, useTestApp } from '../support/test-app.js';

const APPS = '/account/apps';
const REVOKE = '/account/apps/revoke';
const SIGN_IN = '/account/sign-in';
const VERIFY = '/account/verify';

function expectPhonePage(page: Page): void {
  expectPage(page, 200);
  expect(page.html).toContain('name="phone" type="tel"');
}

onOneEngine('Connected apps: sign-in', (database) => {
  const app = useTestApp(database, { OTP_COUNTRIES: 'US' });
  let user: UserWithPhone;
  let visitor: Browser;
  let client: TestClient;
  let token: string;

  beforeEach(async () => {
    app().clock.advance(DAY);
    user = await app().addUser();
    visitor = new Browser(app());
    client = await app().addClient();
    token = await app().accessToken(user, client);
  });

  it('O146 shows the sign-in page to a visitor, and executes no database statement', async () => {
    const statements = await statementsWithoutBackground(app(), async () => {
      expectPhonePage(await visitor.open(APPS));
    });
    expect(statements).toEqual([]);
    expect(visitor.cookies.has('browser')).toBe(true);
  });

  it.each(['the list', 'one app'])(
    'O146 returns to the page that the user opened: %s',
    async (target) => {
      const path = target === 'the list' ? APPS : `${APPS}/${client.clientId}`;
      const phonePage = await visitor.open(path);
      const invalidPhone = await visitor.submit(phonePage, SIGN_IN, { phone: '12' });
      expectPage(invalidPhone, 400);
      const codePage = await visitor.submit(invalidPhone, SIGN_IN, { phone: user.phone });
      expectPage(codePage, 200);
      await app().sms.password(user.phone);
      const secondPhonePage = await visitor.open(linkOf(codePage, 'Use another number'));
      expectPhonePage(secondPhonePage);
      app().clock.advance(MINUTE + 1000);
      const secondCodePage = await visitor.submit(secondPhonePage, SIGN_IN, { phone: user.phone });
      const code = await app().sms.password(user.phone, { afterMessages: 1 });
      const invalidCode = await visitor.submit(secondCodePage, VERIFY, { code: 'letters' });
      expectPage(invalidCode, 400);
      const done = await visitor.submit(invalidCode, VERIFY, { code }, { follow: false });
      expect({ status: done.status, location: done.location }).toEqual({
        status: 303,
        location: path,
      });
      expect((await visitor.open(path)).html).toContain('Disconnect');
    },
  );

  it('O146 redirects to the list when "next" is another site', async () => {
    const page = await visitor.open(APPS);
    const codePage = await visitor.submit(page, SIGN_IN, {
      phone: user.phone,
      next: '//evil.example/',
    });
    const code = await app().sms.password(user.phone);
    const fields = { code, next: 'https://evil.example/' };
    const done = await visitor.submit(codePage, VERIFY, fields, { follow: false });
    expect(done.location).toBe(APPS);
  });

  it('O146 shares one session between the consent page and the account', async () => {
    await visitor.signIn(authorizeLink(client), user);
    expect((await visitor.open(APPS)).html).toContain('Disconnect');
    const otherBrowser = new Browser(app());
    await otherBrowser.signInToAccount(await app().addUser());
    expect((await otherBrowser.open(authorizeLink(client))).html).toContain('name="decision"');
  });

  it('O146 redirects to the list when a sign-in form is sent again after the sign-in', async () => {
    const codePage = await visitor.submit(await visitor.open(APPS), SIGN_IN, { phone: user.phone });
    const code = await app().sms.password(user.phone);
    await visitor.submit(codePage, VERIFY, { code });
    const again = await visitor.submit(codePage, VERIFY, { code }, { follow: false });
    expect(again.location).toBe(APPS);
    const sent = app().sms.messages.length;
    const phone = { phone: user.phone };
    const resent = await visitor.submit(codePage, SIGN_IN, phone, { follow: false });
    expect(resent.location).toBe(APPS);
    expect(app().sms.messages).toHaveLength(sent);
    const stepUrl = await visitor.open(VERIFY);
    expect(stepUrl.location).toBe(APPS);
    expect((await visitor.open(REVOKE)).location).toBe(APPS);
  });

  it.each(['/account', '/account/', '/account/apps/', '/account/apps/%zz', '/account/a/b'])(
    'O146 redirects %s to the list',
    async (path) => {
      const { status, location } = await visitor.open(path);
      expect({ status, location }).toEqual({ status: 303, location: APPS });
    },
  );

  it('O42 explains a missing cookie when the form is sent without it', async () => {
    const page = await visitor.open(APPS);
    visitor.cookies.clear();
    const rejected = await visitor.submit(page, SIGN_IN, { phone: user.phone });
    expectPage(rejected, 403);
    expect(rejected.title).toBe('Error: A required cookie is missing – Neighbourhood network');
    expect(rejected.html).toContain(
      'if you copied the link from another browser, go back to that one.',
    );
    expect(rejected.html).toContain('Otherwise, allow cookies for this site.');
    expect(rejected.html).toContain('href="/account/apps"');
    expect(rejected.html).not.toMatch(/Go back to the app|shared with an app/);
  });

  it('O30 sends no message for a form with a wrong form token, with that of another browser, or from another site', async () => {
    const page = await visitor.open(APPS);
    const otherPage = await new Browser(app()).open(APPS);
    const sent = app().sms.messages.length;
    const validFields = {
      transaction: hiddenField(page, 'transaction'),
      token: hiddenField(page, 'token'),
    };
    const forms = [
      { ...validFields, token: 'x' },
      { ...validFields, token: differentFrom(validFields.token) },
      { ...validFields, token: hiddenField(otherPage, 'token') },
      { ...validFields, transaction: hiddenField(otherPage, 'transaction') },
      {
        transaction: hiddenField(otherPage, 'transaction'),
        token: hiddenField(otherPage, 'token'),
      },
      { ...validFields, token: '' },
      { transaction: validFields.transaction },
    ];
    for (const form of forms) {
      const body = new URLSearchParams({ ...form, phone: user.phone });
      expectPage(await visitor.post(SIGN_IN, body), 403);
    }
    const body = new URLSearchParams({ ...validFields, phone: user.phone });
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }])
      expectPage(await visitor.post(SIGN_IN, body, headers), 403);
    expectPage(await visitor.post(SIGN_IN, body, { 'sec-fetch-site': 'cross-site' }), 403);
    const malformed = [{ token: validFields.token }, { ...validFields, transaction: 'x' }];
    for (const form of malformed)
      expectPage(await visitor.post(SIGN_IN, new URLSearchParams(form)), 400);
    expect(app().sms.messages).toHaveLength(sent);
    expectPage(await visitor.post(SIGN_IN, body), 200);
  });

  it('O35 accepts a sign-in form for fifteen minutes', async () => {
    const page = await visitor.open(APPS);
    app().clock.advance(15 * MINUTE - 1);
    expectPage(await visitor.submit(page, SIGN_IN, { phone: user.phone }), 200);
    app().clock.advance(1);
    const expired = await visitor.submit(page, SIGN_IN, { phone: user.phone });
    expectPage(expired, 400);
    expect(expired.html).toContain('expired');
    expect(expired.html).toContain('href="/account/apps"');
  });

  it('O30 rejects a revocation without the form token of the session', async () => {
    const page = await visitor.signInToAccount(user);
    const otherUsersPage = await new Browser(app()).signInToAccount(await app().addUser());
    const fields = { client_id: client.clientId, all: '1' };
    for (const wrong of ['', 'x', hiddenField(otherUsersPage, 'token')])
      expectPage(await visitor.disconnectBy(page, { ...fields, token: wrong }), 403);
    const good = new URLSearchParams({ ...fields, token: hiddenField(page, 'token') });
    expectPage(await visitor.post(REVOKE, good, { origin: 'https://evil.example' }), 403);
    expectPage(await visitor.post(REVOKE, good, { 'sec-fetch-site': 'same-site' }), 403);
    expect((await visitor.open(APPS)).html).toContain(client.clientId);
    expectPage(await visitor.post(REVOKE, good), 200);
    expect((await visitor.open(APPS)).html).not.toContain(client.clientId);
  });

  it('O31 rejects the form token of an earlier session of the same browser', async () => {
    const earlier = await visitor.signInToAccount(user);
    await visitor.submit(earlier, '/account/sign-out');
    await visitor.signInToAccount(await app().addUser());
    expectPage(await visitor.disconnectBy(earlier, { all: '1' }), 403);
  });

  it('O146 removes nothing after the session ended, and reports that it ended', async () => {
    const page = await visitor.signInToAccount(user);
    app().clock.advance(30 * MINUTE);
    const rejected = await visitor.disconnectBy(page, { all: '1' });
    expectPage(rejected, 403);
    expect(rejected.html).toContain('You are no longer signed in');
    expect((await app().call(token, 'GET', '/me')).status).toBe(200);
  });

  it('O146 ends the session with "Sign out" and asks to sign in for the same page', async () => {
    const path = `${APPS}/${client.clientId}`;
    const page = await visitor.signInToAccount(user, path);
    const forged = await visitor.submit(page, '/account/sign-out', { token: 'x' });
    expectPage(forged, 403);
    const out = await visitor.submit(page, '/account/sign-out', {}, { follow: false });
    expect({ status: out.status, location: out.location }).toEqual({ status: 303, location: path });
    expect(visitor.cookies.has('session')).toBe(false);
    expectPhonePage(await visitor.open(path));
  });

  it('O146 ends the sessions in all browsers with "Sign out everywhere", and keeps the apps', async () => {
    const page = await visitor.signInToAccount(user);
    app().clock.advance(2 * MINUTE);
    const elsewhere = new Browser(app());
    await elsewhere.signInToAccount(user);
    const other = await app().addUser();
    const bystander = new Browser(app());
    await bystander.signInToAccount(other);
    expectPhonePage(await visitor.submit(page, '/account/sign-out-everywhere'));
    expectPhonePage(await visitor.open(APPS));
    expectPhonePage(await elsewhere.open(APPS));
    expect((await bystander.open(APPS)).html).toContain(other.name);
    expect((await app().call(token, 'GET', '/me')).status).toBe(200);
    const devices = app().dataSource.getRepository(TrustedDevice);
    // The browser that signed out stays a trusted device; the others must use the limits for strangers.
    expect(await devices.countBy({ phone: user.phone })).toBe(1);
    expect(await auditTrail(app().dataSource, user.id)).toContainEqual({
      action: 'user.signed_out',
      actor: user.id,
      reason: 'by the user',
      details: { sessions: 2, begun: 0 },
    });
    // The second click of a double click.
    expectPhonePage(await visitor.submit(page, '/account/sign-out-everywhere'));
  });

  it('O146 disconnects all apps with "Sign out everywhere and disconnect all apps"', async () => {
    const page = await visitor.signInToAccount(user);
    const late = await app().accessToken(user, await app().addClient());
    expectPhonePage(await visitor.submit(page, '/account/sign-out-everywhere', { apps: '1' }));
    for (const one of [token, late]) expect((await app().call(one, 'GET', '/me')).status).toBe(401);
    const by = { actor: user.id, reason: 'by the user' };
    const events = await app().dataSource.manager.findBy(AuditEvent, by);
    expect(events.map(({ action }) => action).toSorted()).toEqual([
      'grant.revoked',
      'grant.revoked',
      'user.signed_out',
    ]);
    expect((await visitor.signInToAccount(user)).html).not.toContain('name="apps"');
  });

  it('O146 lists the sessions of the user, and ends one', async () => {
    app().clock.set('2026-12-01T09:00:00.000Z');
    const elsewhere = new Browser(app());
    await elsewhere.signInToAccount(user);
    app().clock.advance(5 * MINUTE);
    await elsewhere.open(APPS);
    await new Browser(app()).signInToAccount(await app().addUser());
    app().clock.advance(5 * MINUTE);
    const page = await visitor.signInToAccount(user);
    const list = page.html.split('Where you are signed in')[1] ?? '';
    const words = list.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(words).toMatch(
      /This browser Signed in 1 December 2026 at 09:10 UTC Last used 1 December 2026 at 09:10 UTC Signed in 1 December 2026 at 09:00 UTC Last used 1 December 2026 at 09:05 UTC Sign out this session/,
    );
    const session = /name="session" value="(\w{12})"/.exec(list)?.[1] ?? '';
    expect(list.match(/name="session"/g)).toHaveLength(1);
    const end = '/account/sessions/end';
    expectPage(await visitor.submit(page, end, { session, token: 'x' }), 403);
    expect((await elsewhere.open(APPS)).html).toContain(client.clientId);
    const done = await visitor.submit(page, end, { session });
    expect(done.html).toContain('That browser is signed out.');
    expectPhonePage(await elsewhere.open(APPS));
    expect((await visitor.submit(page, end, { session })).html).toContain('already signed out');
    expect(await auditTrail(app().dataSource, user.id)).toContainEqual({
      action: 'session.ended',
      actor: user.id,
      reason: 'by the user',
      details: { session },
    });
  });

  it('O146 ends no session of another user', async () => {
    const other = await app().addUser();
    const bystander = new Browser(app());
    await bystander.signInToAccount(other);
    app().clock.advance(2 * MINUTE);
    const elsewhere = new Browser(app());
    const list = await elsewhere.signInToAccount(other);
    const session = /name="session" value="(\w{12})"/.exec(list.html)?.[1] ?? '';
    app().clock.advance(2 * MINUTE);
    await new Browser(app()).signInToAccount(user);
    app().clock.advance(2 * MINUTE);
    const page = await visitor.signInToAccount(user);
    const done = await visitor.submit(page, '/account/sessions/end', { session });
    expect(done.html).toContain('already signed out');
    expect((await bystander.open(APPS)).html).toContain(other.name);
  });

  it.each(['/account/sign-out', '/account/sign-out-everywhere'])(
    'clears what the browser stored of the pages, but no cookie of the device, at %s',
    async (path) => {
      const page = await visitor.signInToAccount(user);
      const device = visitor.cookies.get('browser');
      const out = await visitor.submit(page, path, {}, { follow: false });
      expect(out.headers.get('clear-site-data')).toBe('"cache"');
      expect(visitor.cookies.get('browser')).toBe(device);
    },
  );

  it('O146 rejects "Sign out everywhere" with a wrong form token', async () => {
    const page = await visitor.signInToAccount(user);
    const wrong = await visitor.submit(page, '/account/sign-out-everywhere', { token: 'x' });
    expectPage(wrong, 403);
    expect((await visitor.open(APPS)).html).toContain(client.clientId);
  });

  it('O146 signs out a blocked user', async () => {
    const page = await visitor.signInToAccount(user);
    await app().dataSource.getRepository(User).update({ id: user.id }, { status: 'blocked' });
    expectPhonePage(await visitor.open(APPS));
    expectPage(await visitor.disconnectBy(page, { all: '1' }), 403);
  });

  it('O127 counts wrong codes and wrong form tokens in one limit, and shows an error page with 429 after it', async () => {
    const unknown = { phone: '+14155559999' };
    const page = await visitor.submit(await visitor.open(APPS), SIGN_IN, unknown);
    for (let each = 0; each < 10; each += 1) {
      expectPage(await visitor.submit(page, VERIFY, { code: '000000' }), 400);
      expectPage(await visitor.submit(page, VERIFY, { code: '000000', token: 'x' }), 403);
    }
    const limited = await visitor.submit(page, VERIFY, { code: '000000' });
    expectPage(limited, 429);
    expect(limited.html).toContain('Too many attempts');
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
    expectPage(await visitor.submit(page, SIGN_IN), 429);
  });
});
