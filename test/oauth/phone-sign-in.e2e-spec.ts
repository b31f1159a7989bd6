import { formatPhone } from '../../src/modules/users/phone-number.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, submitPhone, withoutSecrets } from '../support/sign-in.js';

const DAY = 24 * 3_600_000;
/** The limit of messages an hour for one address. */
const MESSAGES_PER_ADDRESS = 20;

onOneEngine('Sign-in by phone', (database) => {
  const app = useTestApp(database, {
    ...DEFAULT_LIMITS,
    OTP_COUNTRIES: 'US,DE',
    OTP_DEFAULT_COUNTRY: 'US',
    TRUST_PROXY: '1',
  });
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
    await app().addUser({ phone: '+14155552671' });
  });

  beforeEach(() => {
    app().clock.advance(DAY);
    app().sms.messages.length = 0;
  });

  /** Sends the phone form in a new browser, from the address that the proxy reports. */
  async function requestCode(phone: string, address?: string): Promise<Page> {
    const visitor = new Browser(app(), address === undefined ? {} : { 'x-forwarded-for': address });
    return submitPhone(visitor, authorizeLink(client), phone);
  }

  /** Expects that no message was sent to the phone. Earlier messages have arrived once another user has received a message. */
  async function expectNoMessageTo(phone: string): Promise<void> {
    const otherUser = await app().addUser();
    expectPage(await requestCode(otherUser.phone), 200);
    await app().sms.password(otherUser.phone);
    expect(app().sms.count(phone)).toBe(0);
  }

  function expectFieldError(page: Page): void {
    expectPage(page, 400);
    expect(page.title).toMatch(/^Error: /);
    const field = /<input[^>]*id="phone"[^>]*>/.exec(page.html)?.[0];
    expect(field).toContain('aria-invalid="true"');
    expect(field).toContain('aria-describedby="phone-error"');
    expect(page.html).toMatch(/id="phone-error">.*Error:.* \S/);
    expect(page.html).not.toContain('<script');
  }

  it.each([
    '+1 (415) 555-2671',
    '(415) 555-2671',
    '(+1) 415 555 2671',
    'tel:+1-415-555-2671',
    "'+14155552671",
    '++14155552671;',
  ])(
    'O53 sends the message for "%s" to the user of +14155552671 and counts every spelling in one limit',
    async (typed) => {
      const page = await requestCode(typed);
      expectPage(page, 200);
      expect(page.html).toContain('value="+14155552671"');
      await app().sms.password('+14155552671');
      for (const again of ['+14155552671', '+1 415-555-2671', '1 (415) 5552671', typed])
        expectPage(await requestCode(again), 429);
    },
  );

  it('O53 asks once to check a number in no known range, whether it has an account or not, and counts no message before', async () => {
    // Area code 621 is newer than the phone library.
    await app().addUser({ phone: '+16215550191' });
    for (const phone of ['+16215550191', '+16215550192']) {
      const visitor = new Browser(app());
      const page = await submitPhone(visitor, authorizeLink(client), phone.slice(2));
      expectFieldError(page);
      expect(page.html).toContain('We do not know numbers like this one.');
      expect(page.html).toContain(`<input type="hidden" name="checked" value="${phone}">`);
      // As the server read it, so that the user sees another country or a wrong digit.
      const shown = formatPhone(phone);
      expect(page.html).toContain(`value="${shown}"`);
      expectFieldError(await visitor.submit(page, SIGN_IN, { phone: '+16215550193' }));
      const codePage = await visitor.submit(page, SIGN_IN, { phone: shown });
      expectPage(codePage, 200);
      app().clock.advance(61_000);
      expectPage(await visitor.submit(codePage, SIGN_IN, { again: '1' }), 200);
    }
    expect(await app().sms.password('+16215550191', { afterMessages: 1 })).toMatch(/^\d{6}$/);
    expect(app().sms.count('+16215550192')).toBe(0);
  });

  it.each(['nobody', '<script>alert(1)</script>'])(
    'O150 shows an error at the field for "%s"',
    async (typed) => {
      expectFieldError(await requestCode(typed));
    },
  );

  it('O52 O150 sends a message to a number of another served country, and shows it in groups of digits', async () => {
    await app().addUser({ phone: '+4930123456' });
    const page = await requestCode('011 49 30 123456');
    expectPage(page, 200);
    expect(page.html).toContain('<strong class="phone">+49\u00a030\u00a0123456</strong>');
    expect(page.html).toContain('value="+4930123456"');
    expect(await app().sms.password('+4930123456')).toMatch(/^\d{6}$/);
  });

  it('O54 shows the same page for a phone without a user and for a blocked user, and sends them no message', async () => {
    const user = await app().addUser();
    const page = withoutSecrets(await requestCode(user.phone), user.phone);
    const { id, phone } = await app().addUser();
    await app().dataSource.query(`UPDATE users SET status = 'blocked' WHERE id = '${id}'`);
    for (const other of [phone, '+14155559977']) {
      const shown = await requestCode(other);
      expectPage(shown, 200);
      expect(withoutSecrets(shown, other)).toBe(page);
      await expectNoMessageTo(other);
    }
  });

  it('accepts ten concurrent forms with different phones for one authorization request', async () => {
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    const users = await Promise.all(Array.from({ length: 10 }, () => app().addUser()));
    const forms = users.map(({ phone }) => visitor.submit(page, SIGN_IN, { phone }));
    for (const response of await Promise.all(forms)) expectPage(response, 200);
  });

  it.each([
    ['Canada, which shares +1', '+14165550191'],
    ['no country', '+883510000000'],
  ])('O52 shows an error at the field for a number of %s', async (_, phone) => {
    await app().addUser({ phone });
    expectFieldError(await requestCode(phone));
    await expectNoMessageTo(phone);
  });

  it('O52 shows one page for all phones of a country that is not served, and does not count these requests', async () => {
    const user = await app().addUser({ phone: '+33123456780' });
    const pages = new Set<string>();
    for (const phone of [user.phone, '+33123456781', user.phone, '+33123456781'])
      pages.add(withoutSecrets(await requestCode(phone), phone));
    expect(pages.size).toBe(1);
    for (let each = 10; each < 10 + MESSAGES_PER_ADDRESS; each += 1)
      expectPage(await requestCode(`+141555520${each}`), 200);
    expectPage(await requestCode('+14155552030'), 429);
  });

  it.each([
    ['/64', MESSAGES_PER_ADDRESS, 21_000, (each: number) => `2001:db8:1:2::${each}`],
    // A /64 of its own for each message: within one /56, or in a /56 each.
    ['/56', 40, 22_000, (each: number) => `2001:db8:2:${each.toString(16)}::1`],
    ['/48', 100, 23_000, (each: number) => `2001:db8:3:${(each * 256).toString(16)}::1`],
  ])(
    'O52 limits all addresses of an IPv6 %s to %i messages an hour',
    async (_, limit, base, addressOf) => {
      for (let each = 1; each <= limit; each += 1)
        expectPage(await requestCode(`+14155${base + each}0`, addressOf(each)), 200);
      expectPage(await requestCode(`+14155${base}0`, addressOf(limit + 1)), 429);
      expectPage(await requestCode(`+14155${base}1`, '2001:db8:4::1'), 200);
    },
  );
});
