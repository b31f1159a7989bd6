import { hmacSha256, sha256 } from '../../src/platform/secrets.js';
import { OtpChallenge, SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { dumpDatabase, expectPage, asWholeWord } from '../support/responses.js';
import { rateLimits, UNLIMITED, type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, submitPhone, wrongCode, expectConsentPage } from '../support/sign-in.js';

const SECOND = 1000;

onOneEngine('One-time password', (database) => {
  // Fifty concurrent guesses of one browser are fifty failures, and wait for each other.
  const app = useTestApp(database, {
    ...rateLimits({ 'sign-in-failures': UNLIMITED, 'sign-in-address-failures': UNLIMITED }),
    DB_TIMEOUT_MS: '20000',
  });
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  /** Requests a code for the user's phone. Returns the page for the code, and the code. */
  async function requestCode(): Promise<{ page: Page; code: string }> {
    const page = await submitPhone(visitor, authorizeLink(client), user.phone);
    return { page, code: await app().sms.password(user.phone) };
  }

  function attempt(page: Page, code: string): Promise<Page> {
    return visitor.submit(page, VERIFY, { code });
  }

  function expectRejected(page: Page): void {
    expectPage(page, 400);
    expect(page.title).toMatch(/^Error: /);
    expect(page.html).toMatch(/class="field-error" (id="code-error"|role="alert")>.*Error:.* \S/);
    const field = /<input[^>]*name="code"[^>]*>/.exec(page.html)?.[0];
    // Without a valid one-time password, the page has no field.
    if (field === undefined) return;
    expect(field).toContain('aria-invalid="true"');
    expect(field).toContain('aria-describedby="code-error code-hint"');
    expect(page.html).not.toContain('name="decision"');
  }

  it('O43 O44 sends six digits in a message that names the app and ends with the host for WebOTP, and stores their HMAC', async () => {
    const { code } = await requestCode();
    expect(code).toMatch(/^\d{6}$/);
    const message = app().sms.messages.find(({ to }) => to === user.phone);
    expect(message?.text).toContain(client.name);
    expect(message?.text).toMatch(new RegExp(`\\n@127\\.0\\.0\\.1 #${code}$`));
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const { id, codeHash } = await challenges.findOneByOrFail({ phone: user.phone });
    expect(codeHash).toBe(hmacSha256(app().config.otp.pepper, `${id}|${code}`));
    expect(codeHash).not.toBe(sha256(code));
    expect(await dumpDatabase(app())).not.toMatch(asWholeWord(code));
  });

  it('O46 creates one session when the right code is sent twenty times at once', async () => {
    const { page, code } = await requestCode();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => visitor.submit(page, VERIFY, { code }, { follow: false })),
    );
    const signedIn = responses.filter(({ location }) => location?.endsWith('/consent'));
    expect(signedIn).toHaveLength(1);
    const sessions = app().dataSource.getRepository(SignInSession);
    expect(await sessions.countBy({ userId: user.id })).toBe(1);
  });

  it('O46 rejects a code that was already used', async () => {
    const { page, code } = await requestCode();
    expectConsentPage(await attempt(page, code));
    // A signed-in user sees the consent page again.
    expectConsentPage(await attempt(page, code));
    expectConsentPage(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
    visitor.cookies.delete('session');
    expectRejected(await attempt(page, code));
  });

  it('O47 accepts the right code after two wrong ones', async () => {
    const { page, code } = await requestCode();
    for (let offset = 1; offset <= 2; offset += 1)
      expectRejected(await attempt(page, wrongCode(code, offset)));
    expectConsentPage(await attempt(page, code));
  });

  it('O47 rejects the right code after three wrong ones, on a trusted device after five', async () => {
    for (const guesses of [3, 5]) {
      const { page, code } = await requestCode();
      expect(page.html).not.toContain('Attempts left');
      for (let wrong = 1; wrong < guesses; wrong += 1) {
        const { html } = await attempt(page, wrongCode(code, wrong));
        expect(html).toContain(`Attempts left: ${guesses - wrong}.`);
      }
      expect((await attempt(page, wrongCode(code, guesses))).html).toContain('the last attempt');
      expectRejected(await attempt(page, code));
      app().clock.advance(61 * SECOND);
      await visitor.signIn(authorizeLink(client), user);
      visitor.cookies.delete('session');
      app().clock.advance(61 * SECOND);
      app().sms.messages.length = 0;
    }
  });

  it('O47 compares only three of fifty concurrent guesses with the code', async () => {
    const { page, code } = await requestCode();
    const guesses = Array.from({ length: 50 }, (_, offset) =>
      attempt(page, wrongCode(code, offset + 1)),
    );
    const responses = await Promise.all(guesses);
    for (const response of responses) expectRejected(response);
    const compared = responses.filter(({ html }) => html.includes('That code is wrong'));
    expect(compared).toHaveLength(3);
    expectRejected(await attempt(page, code));
  });

  it('O50 accepts only the code of the newest message', async () => {
    const { page, code: first } = await requestCode();
    expect(page.html).not.toContain('class="notice"');
    app().clock.advance(61 * SECOND);
    const again = await visitor.submit(page, SIGN_IN, { again: '1' });
    expect(again.html).toMatch(/role="status">You requested a new code/);
    const second = await app().sms.password(user.phone, { afterMessages: 1 });
    if (first !== second) expectRejected(await attempt(page, first));
    expectConsentPage(await attempt(page, second));
  });

  it('O55 rejects the code in another browser', async () => {
    const { page, code } = await requestCode();
    const otherBrowser = new Browser(app());
    expectPage(await otherBrowser.submit(page, VERIFY, { code }), 403);
    await otherBrowser.open(authorizeLink(client));
    expectPage(await otherBrowser.submit(page, VERIFY, { code }), 403);
    expectConsentPage(await attempt(page, code));
  });

  it('O55 rejects the code in another browser that requested one for the same phone', async () => {
    const { page, code } = await requestCode();
    app().clock.advance(61 * SECOND);
    const second = new Browser(app());
    const secondPage = await submitPhone(second, authorizeLink(client), user.phone);
    if ((await app().sms.password(user.phone, { afterMessages: 1 })) !== code)
      expectRejected(await second.submit(secondPage, VERIFY, { code }));
    expectConsentPage(await attempt(page, code));
  });

  it('O49 accepts the code in another authorization request of the same browser, which shows the page for it', async () => {
    const { code } = await requestCode();
    const link = authorizeLink(await app().addClient());
    const codePage = await submitPhone(visitor, link, user.phone);
    expectPage(codePage, 200);
    expect(codePage.html).toMatch(/role="status">The last code we sent still works/);
    expect(app().sms.count(user.phone)).toBe(1);
    expectConsentPage(await attempt(codePage, code));
  });

  it('O55 rejects the code for another phone', async () => {
    const { page, code } = await requestCode();
    expectRejected(await visitor.submit(page, VERIFY, { code, phone: '+14155550199' }));
    expectConsentPage(await attempt(page, code));
  });

  it('O149 rejects malformed codes without counting attempts, and accepts spaces and a hyphen', async () => {
    const { page, code } = await requestCode();
    for (const typed of ['1234567', '12345', 'abcdef', '', "' OR 1=1", '1'.repeat(10_000)])
      expectRejected(await attempt(page, typed));
    expectConsentPage(await attempt(page, `  ${code.slice(0, 3)}-${code.slice(3)}\t`));
  });
});
