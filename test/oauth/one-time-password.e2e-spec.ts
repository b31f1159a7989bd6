import { hmacSha256, sha256 } from '../../src/common/secrets.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in-session.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { dumpDatabase, expectPage, asWholeWord } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const SECOND = 1000;

onOneEngine('The one-time password', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: User;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  async function codePage(): Promise<{ page: Page; code: string }> {
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

  function expectRefused(page: Page): void {
    expectPage(page, 400);
    expect(page.title).toMatch(/^Error: /);
    const field = /<input[^>]*name="code"[^>]*>/.exec(page.html)?.[0];
    expect(field).toContain('aria-invalid="true"');
    expect(field).toContain('aria-describedby="code-error code-hint"');
    expect(page.html).toMatch(/id="code-error">.*Error:.* \S/);
    expect(page.html).not.toContain('name="decision"');
  }

  /** A code that is not the right one. */
  function other(code: string, by = 1): string {
    return String((Number(code) + by) % 1_000_000).padStart(6, '0');
  }

  it('O43 It is six digits, in a message that ends with the host for the browser to fill in', async () => {
    const { code } = await codePage();
    expect(code).toMatch(/^\d{6}$/);
    const message = app().sms.messages.find(({ to }) => to === user.phone);
    expect(message?.text).toMatch(new RegExp(`\\n@127\\.0\\.0\\.1 #${code}$`));
  });

  it('O44 The table holds an HMAC of it, which the code alone does not give', async () => {
    const { page, code } = await codePage();
    const [, id = ''] = /name="transaction" value="([^"]*)"/.exec(page.html) ?? [];
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const { codeHash } = await challenges.findOneByOrFail({ transactionId: id });
    expect(codeHash).toBe(hmacSha256(app().config.otp.pepper, `${id}|${user.phone}|${code}`));
    expect(codeHash).not.toBe(sha256(code));
    expect(await dumpDatabase(app())).not.toMatch(asWholeWord(code));
  });

  it('O45 It is accepted after 4:59', async () => {
    const { page, code } = await codePage();
    app().clock.advance(299 * SECOND);
    expectSignedIn(await attempt(page, code));
  });

  it('O45 It is refused after 5:00', async () => {
    const { page, code } = await codePage();
    app().clock.advance(300 * SECOND);
    expectRefused(await attempt(page, code));
  });

  it('O46 Twenty times at once, the right code makes one session', async () => {
    const { page, code } = await codePage();
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(page, code)));
    const signedIn = answers.filter(({ status }) => status === 200);
    expect(signedIn).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefused(answer);
    const sessions = app().dataSource.getRepository(SignInSession);
    expect(await sessions.countBy({ userId: user.id })).toBe(1);
  });

  it('O46 It works once', async () => {
    const { page, code } = await codePage();
    expectSignedIn(await attempt(page, code));
    visitor.cookies.delete('session');
    expectRefused(await attempt(page, code));
  });

  it('A reload after it was right shows the consent page again, and not an error', async () => {
    const { page, code } = await codePage();
    expectSignedIn(await attempt(page, code));
    expectSignedIn(await attempt(page, code));
    expectSignedIn(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
  });

  it('O47 After four wrong codes the right one is accepted', async () => {
    const { page, code } = await codePage();
    for (let by = 1; by <= 4; by += 1) expectRefused(await attempt(page, other(code, by)));
    expectSignedIn(await attempt(page, code));
  });

  it('O47 After five wrong codes the right one is refused', async () => {
    const { page, code } = await codePage();
    for (let by = 1; by <= 5; by += 1) expectRefused(await attempt(page, other(code, by)));
    expectRefused(await attempt(page, code));
  });

  it('O47 Fifty guesses at once cause five comparisons', async () => {
    const { page, code } = await codePage();
    const guesses = Array.from({ length: 50 }, (_, by) => attempt(page, other(code, by + 1)));
    const answers = await Promise.all(guesses);
    for (const answer of answers) expectRefused(answer);
    const compared = answers.filter(({ html }) => html.includes('not the code we sent'));
    expect(compared).toHaveLength(5);
    expectRefused(await attempt(page, code));
  });

  it('O50 After a new message only its code works', async () => {
    const { page, code: first } = await codePage();
    expect(page.html).not.toContain('class="notice"');
    const again = await visitor.submit(page, SIGN_IN, { again: '1' });
    expect(again.html).toMatch(/role="status">If there is an account for this number, a new code/);
    await expect
      .poll(() => app().sms.messages.filter(({ to }) => to === user.phone))
      .toHaveLength(2);
    const second = await app().sms.password(user.phone);
    if (first !== second) expectRefused(await attempt(page, first));
    expectSignedIn(await attempt(page, second));
  });

  it('O55 It is of no use in another browser', async () => {
    const { page, code } = await codePage();
    const thief = new Browser(app());
    expectPage(await thief.submit(page, VERIFY, { code }), 403);
    await thief.open(authorizeLink(client));
    expectPage(await thief.submit(page, VERIFY, { code }), 403);
    expectSignedIn(await attempt(page, code));
  });

  it('O55 It is of no use for another request of the same browser', async () => {
    const { code } = await codePage();
    const phonePage = await visitor.open(authorizeLink(client));
    const unknown = { phone: '+14155550199' };
    const elsewhere = await visitor.submit(phonePage, SIGN_IN, unknown);
    const page = await visitor.submit(elsewhere, VERIFY, { code, phone: user.phone });
    expectRefused(page);
  });

  it('O58 Its field lets phones fill it in, and no address holds it', async () => {
    const { page, code } = await codePage();
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
  ])('O149 With %s it is accepted', async (_, typed) => {
    const { page, code } = await codePage();
    expectSignedIn(await attempt(page, typed(code)));
  });

  it.each(['1234567', '12345', 'abcdef', '12 34', '', "' OR 1=1", '1'.repeat(10_000), '١٢٣٤٥٦'])(
    'O149 What cannot be one, like "%.20s", gets a message and costs no attempt',
    async (typed) => {
      const { page, code } = await codePage();
      for (let time = 0; time < 6; time += 1) expectRefused(await attempt(page, typed));
      expectSignedIn(await attempt(page, code));
    },
  );
});
