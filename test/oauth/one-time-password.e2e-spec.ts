import { hmacSha256, sha256 } from '../../src/platform/secrets.js';
import { OtpChallenge, SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { dumpDatabase, expectPage, asWholeWord } from '../support/responses.js';
import { rateLimits, UNLIMITED, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
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
    const phonePage = await visitor.open(authorizeLink(client));
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: user.phone });
    return { page, code: await app().sms.password(user.phone) };
  }

  function attempt(page: Page, code: string): Promise<Page> {
    return visitor.submit(page, VERIFY, { code });
  }

  function expectSignedIn(page: Page): void {
    expectPage(page, 200);
    expect(page.html).toContain('name="decision"');
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

  /** Returns a wrong code, another one for each offset. */
  function wrongCode(code: string, offset = 1): string {
    return String((Number(code) + offset) % 1_000_000).padStart(6, '0');
  }

  it('O43 sends six digits in a message that ends with the host for WebOTP', async () => {
    const { code } = await requestCode();
    expect(code).toMatch(/^\d{6}$/);
    const message = app().sms.messages.find(({ to }) => to === user.phone);
    expect(message?.text).toMatch(new RegExp(`\\n@127\\.0\\.0\\.1 #${code}$`));
  });

  it('O44 stores an HMAC of the code, not the code', async () => {
    const { code } = await requestCode();
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const { id, codeHash } = await challenges.findOneByOrFail({ phone: user.phone });
    expect(codeHash).toBe(hmacSha256(app().config.otp.pepper, `${id}|${code}`));
    expect(codeHash).not.toBe(sha256(code));
    expect(await dumpDatabase(app())).not.toMatch(asWholeWord(code));
  });

  it('O45 accepts the code one millisecond before it is five minutes old', async () => {
    const { page, code } = await requestCode();
    app().clock.advance(299_999);
    expectSignedIn(await attempt(page, code));
  });

  it('O45 rejects a code that is five minutes old', async () => {
    const { page, code } = await requestCode();
    app().clock.advance(300_000);
    expectRejected(await attempt(page, code));
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
    expectSignedIn(await attempt(page, code));
    visitor.cookies.delete('session');
    expectRejected(await attempt(page, code));
  });

  it('shows the consent page again when a form of the sign-in is sent again', async () => {
    const { page, code } = await requestCode();
    expectSignedIn(await attempt(page, code));
    expectSignedIn(await attempt(page, code));
    expectSignedIn(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
  });

  it('O47 accepts the right code after four wrong ones', async () => {
    const { page, code } = await requestCode();
    for (let offset = 1; offset <= 4; offset += 1)
      expectRejected(await attempt(page, wrongCode(code, offset)));
    expectSignedIn(await attempt(page, code));
  });

  it('O47 rejects the right code after five wrong ones', async () => {
    const { page, code } = await requestCode();
    for (let offset = 1; offset <= 5; offset += 1)
      expectRejected(await attempt(page, wrongCode(code, offset)));
    expectRejected(await attempt(page, code));
  });

  it('O47 compares only five of fifty concurrent guesses with the code', async () => {
    const { page, code } = await requestCode();
    const guesses = Array.from({ length: 50 }, (_, offset) =>
      attempt(page, wrongCode(code, offset + 1)),
    );
    const responses = await Promise.all(guesses);
    for (const response of responses) expectRejected(response);
    const compared = responses.filter(({ html }) => html.includes('That code is wrong'));
    expect(compared).toHaveLength(5);
    expectRejected(await attempt(page, code));
  });

  it('O50 accepts only the code of the newest message', async () => {
    const { page, code: first } = await requestCode();
    expect(page.html).not.toContain('class="notice"');
    app().clock.advance(61 * SECOND);
    const again = await visitor.submit(page, SIGN_IN, { again: '1' });
    expect(again.html).toMatch(/role="status">If there is an account for this number, a new code/);
    const second = await app().sms.password(user.phone, { afterMessages: 1 });
    if (first !== second) expectRejected(await attempt(page, first));
    expectSignedIn(await attempt(page, second));
  });

  it('O55 rejects the code in another browser', async () => {
    const { page, code } = await requestCode();
    const otherBrowser = new Browser(app());
    expectPage(await otherBrowser.submit(page, VERIFY, { code }), 403);
    await otherBrowser.open(authorizeLink(client));
    expectPage(await otherBrowser.submit(page, VERIFY, { code }), 403);
    expectSignedIn(await attempt(page, code));
  });

  it('O55 rejects the code in another browser that requested one for the same phone', async () => {
    const { page, code } = await requestCode();
    app().clock.advance(61 * SECOND);
    const second = new Browser(app());
    const phonePage = await second.open(authorizeLink(client));
    const secondPage = await second.submit(phonePage, SIGN_IN, { phone: user.phone });
    if ((await app().sms.password(user.phone, { afterMessages: 1 })) !== code)
      expectRejected(await second.submit(secondPage, VERIFY, { code }));
    expectSignedIn(await attempt(page, code));
  });

  it('O49 accepts the code in another authorization request of the same browser, which shows the page for it', async () => {
    const { code } = await requestCode();
    const link = authorizeLink(await app().addClient());
    const codePage = await visitor.submit(await visitor.open(link), SIGN_IN, {
      phone: user.phone,
    });
    expectPage(codePage, 200);
    expect(codePage.html).toMatch(/role="status">The last code we sent still works/);
    expect(app().sms.count(user.phone)).toBe(1);
    expectSignedIn(await attempt(codePage, code));
  });

  it('O55 rejects the code for another phone', async () => {
    const { page, code } = await requestCode();
    expectRejected(await visitor.submit(page, VERIFY, { code, phone: '+14155550199' }));
    expectSignedIn(await attempt(page, code));
  });

  it('O58 lets browsers fill in the code and puts it in no URL', async () => {
    const { page, code } = await requestCode();
    const field = /<input[^>]*name="code"[^>]*>/.exec(page.html)?.[0];
    expect(field).toContain('autocomplete="one-time-code"');
    expect(field).toContain('inputmode="numeric"');
    expect(page.html).toMatch(/<form[^>]* method="post"[^>]* action="\/oauth\/authorize\/verify"/);
    const done = await attempt(page, code);
    expect(done.html).not.toContain(code);
  });

  it.each([
    ['a space', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['a hyphen', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
    ['spaces around it', (code: string) => `  ${code}\t`],
    [
      'full-width digits',
      (code: string) =>
        code.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ],
  ])('O149 accepts the code with %s', async (_, typed) => {
    const { page, code } = await requestCode();
    expectSignedIn(await attempt(page, typed(code)));
  });

  it('O149 rejects malformed codes with an error at the field, and does not count them as attempts', async () => {
    const { page, code } = await requestCode();
    const malformed = ['1234567', '12345', 'abcdef', '12 34', '', "' OR 1=1", '1'.repeat(10_000)];
    for (const typed of [...malformed, '١٢٣٤٥٦']) expectRejected(await attempt(page, typed));
    expectSignedIn(await attempt(page, code));
  });
});
