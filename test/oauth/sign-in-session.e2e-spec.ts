import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, SIGN_OUT, DECISION, expectConsentPage } from '../support/sign-in.js';

const MINUTE = 60_000;

onOneEngine('Sign-in session', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  function expectSignedOut(page: Page): void {
    expectPage(page, 200);
    expect(page.html).toContain('name="phone" type="tel"');
    expect(page.html).not.toContain('name="decision"');
  }

  it('makes a second one-time password unnecessary, but not the consent', async () => {
    await visitor.signIn(authorizeLink(client), user);
    const again = await visitor.open(authorizeLink(await app().addClient()));
    expectConsentPage(again);
    expect(app().sms.messages.filter(({ to }) => to === user.phone)).toHaveLength(1);
  });

  it('ends after thirty minutes without use, and twelve hours after the sign-in even with use', async () => {
    await visitor.signIn(authorizeLink(client), user);
    app().clock.advance(30 * MINUTE - 1);
    expectConsentPage(await visitor.open(authorizeLink(client)));
    app().clock.advance(30 * MINUTE);
    expectSignedOut(await visitor.open(authorizeLink(client)));
    await visitor.signIn(authorizeLink(client), user);
    for (let use = 1; use < 36; use += 1) {
      app().clock.advance(20 * MINUTE);
      expectConsentPage(await visitor.open(authorizeLink(client)));
    }
    app().clock.advance(20 * MINUTE - 1);
    expectConsentPage(await visitor.open(authorizeLink(client)));
    app().clock.advance(1);
    expectSignedOut(await visitor.open(authorizeLink(client)));
  });

  it('ends for a blocked user', async () => {
    const page = await visitor.signIn(authorizeLink(client), user);
    await app().dataSource.getRepository(User).update({ id: user.id }, { status: 'blocked' });
    expectSignedOut(await visitor.open(authorizeLink(client)));
    expectPage(await visitor.allow(page, ['profile.read']), 403);
  });

  it('ends for a copy of its cookie when the user signs out', async () => {
    const page = await visitor.signIn(authorizeLink(client), user);
    const copy = new Browser(app());
    for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
    await visitor.submit(page, SIGN_OUT);
    expect(visitor.cookies.has('session')).toBe(false);
    expectSignedOut(await copy.open(authorizeLink(client)));
  });

  it('O42 has a new id after every sign-in, and the earlier id is invalid', async () => {
    const waiting = await visitor.open(authorizeLink(client));
    await visitor.signIn(authorizeLink(client), user);
    const earlier = visitor.cookies.get('session') ?? '';
    await visitor.signInOn(waiting, await app().addUser());
    expect(visitor.cookies.get('session')).not.toBe(earlier);
    const copy = new Browser(app());
    copy.cookies.set('session', earlier);
    expectSignedOut(await copy.open(authorizeLink(client)));
  });

  it('O42 replaces an id that was planted before the sign-in (session fixation)', async () => {
    const planted = 'planted'.repeat(6);
    visitor.cookies.set('session', planted);
    expectSignedOut(await visitor.open(authorizeLink(client)));
    expectConsentPage(await visitor.signIn(authorizeLink(client), user));
    expect(visitor.cookies.get('session')).toMatch(/^[\w-]{43}$/);
    expect(visitor.cookies.get('session')).not.toBe(planted);
    const copy = new Browser(app());
    copy.cookies.set('session', planted);
    expectSignedOut(await copy.open(authorizeLink(client)));
  });

  it('O42 sets host-only cookies with HttpOnly and SameSite=Lax', async () => {
    const opened = await visitor.open(authorizeLink(client));
    const codePage = await visitor.submit(opened, SIGN_IN, {
      phone: user.phone,
    });
    const code = await app().sms.password(user.phone);
    const signedIn = await visitor.submit(codePage, VERIFY, { code }, { follow: false });
    const lines = [opened, signedIn].flatMap(({ headers }) => headers.getSetCookie());
    const { port } = new URL(app().baseUrl);
    // The cookie of the page is deleted.
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      `devplatform-browser-${port}`,
      `devplatform-session-${port}`,
      `devplatform-page-${port}`,
    ]);
    for (const line of lines) {
      expect(line).toMatch(/; Path=\//);
      expect(line).toMatch(/; HttpOnly/);
      expect(line).toMatch(/; SameSite=Lax/);
      expect(line).not.toMatch(/Domain|Secure/);
    }
  });

  it('O152 sends, over http on localhost, no header that makes browsers switch to https, and cookies that the browser keeps', async () => {
    const consent = await visitor.signIn(authorizeLink(client), user);
    const pages = [consent, await visitor.open('/oauth/authorize?'), await visitor.open('/')];
    for (const { headers } of pages) {
      expect(headers.has('strict-transport-security')).toBe(false);
      expect(headers.get('content-security-policy')).not.toContain('upgrade-insecure-requests');
    }
    expect([...visitor.cookies.keys()].toSorted()).toEqual(['browser', 'session']);
  });
});

onOneEngine('Sign-in session behind https', (database) => {
  const app = useTestApp(database, { PUBLIC_URL: 'https://platform.example' });

  /** Returns a browser that sends requests as the https proxy does. */
  function newVisitor(): Browser {
    const { baseUrl, sms, config } = app();
    const upstream = `http://127.0.0.1:${config.server.port}`;
    return new Browser({
      baseUrl,
      sms,
      fetch: (path, init) => fetch(`${upstream}${path}`, { redirect: 'manual', ...init }),
    });
  }

  it('O42 sets Secure cookies with the prefix __Host-', async () => {
    const visitor = newVisitor();
    const link = authorizeLink(await app().addClient());
    const opened = await visitor.open(link);
    const secure = 'HttpOnly; Secure; SameSite=Lax$';
    expect(opened.headers.getSetCookie()).toEqual([
      expect.stringMatching(new RegExp(`^__Host-devplatform-browser=[^;]+;.* Path=/;.* ${secure}`)),
    ]);
    const { phone } = await app().addUser();
    const sent = await visitor.submit(opened, SIGN_IN, { phone }, { follow: false });
    expect(sent.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(`^__Secure-devplatform-page=[^;]+; Max-Age=900; Path=/; .* ${secure}`),
      ),
    ]);
    const fields = { code: await app().sms.password(phone) };
    const codePage = await visitor.follow(sent);
    const signedIn = await visitor.submit(codePage, VERIFY, fields, { follow: false });
    expect(signedIn.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(`^__Host-devplatform-session=[\\w-]{43}; Path=/; ${secure}`),
      ),
      expect.stringMatching(
        new RegExp(`^__Secure-devplatform-page=; Path=/; Expires=.*; ${secure}`),
      ),
    ]);
    const consent = await visitor.follow(signedIn);
    const out = await visitor.submit(consent, SIGN_OUT, {}, { follow: false });
    expect(out.headers.getSetCookie()[0]).toMatch(
      new RegExp(`^__Host-devplatform-session=; Path=/; Expires=.*; ${secure}`),
    );
  });

  it('O27 sends Strict-Transport-Security with every page, errors included', async () => {
    const visitor = newVisitor();
    const link = authorizeLink(await app().addClient());
    const phonePage = await visitor.open(link);
    const consent = await visitor.signIn(link, await app().addUser());
    const decide = (fields: Record<string, string>): Promise<Page> =>
      visitor.submit(consent, DECISION, fields);
    // The two wrong tokens below are the failures 19 and 20, after which the browser gets 429.
    for (let failure = 0; failure < 18; failure += 1) await decide({ token: 'x' });
    const pages = [
      [phonePage, 200],
      [consent, 200],
      [await visitor.open('/oauth/authorize'), 400],
      [await visitor.post(DECISION, new URLSearchParams()), 400],
      [await decide({ token: 'x' }), 403],
      [await decide({ token: 'x' }), 403],
      [await decide({ decision: 'approve' }), 429],
    ] as const;
    for (const [page, status] of pages) {
      expectPage(page, status);
      expect(page.headers.get('strict-transport-security')).toBe('max-age=31536000');
    }
  });
});
