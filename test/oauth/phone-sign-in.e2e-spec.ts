import { formatPhone } from '../../src/modules/users/phone-number.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const DAY = 24 * 3_600_000;
/** The limit of messages an hour for one address. */
const MESSAGES_PER_ADDRESS = 20;

/** Returns the status and the text of a page, without its tokens and without the phone. */
function withoutSecrets({ status, html }: Page, phone: string): string {
  const text = html.replaceAll(/txn_\w+|name="token" value="[^"]*"/g, '');
  return `${status} ${text.replaceAll(phone, '').replaceAll(formatPhone(phone), '')}`;
}

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
    return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
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

  it.each(['+1 (415) 555-2671', '(415) 555-2671'])(
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

  it.each(['nobody', '<script>alert(1)</script>'])(
    'O150 shows an error at the field for "%s"',
    async (typed) => {
      expectFieldError(await requestCode(typed));
    },
  );

  it('O150 shows a number of another served country in groups of digits', async () => {
    const page = await requestCode('011 49 30 123456');
    expectPage(page, 200);
    expect(page.html).toContain('<strong class="phone">+49\u00a030\u00a0123456</strong>');
    expect(page.html).toContain('value="+4930123456"');
  });

  it('O54 shows the same page for a phone without a user and sends it no message', async () => {
    const { phone } = await app().addUser();
    const known = await requestCode(phone);
    const unknown = await requestCode('+14155559977');
    expectPage(unknown, 200);
    expect(withoutSecrets(unknown, '+14155559977')).toBe(withoutSecrets(known, phone));
    await expectNoMessageTo('+14155559977');
  });

  it('O54 accepts no code for a phone without a user', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: '+14155559976' });
    for (const code of ['000000', '123456', '999999'])
      expectPage(await visitor.submit(page, VERIFY, { code }), 400);
  });

  it('O54 shows the same page for a blocked user and sends no message', async () => {
    const { id, phone } = await app().addUser();
    await app().dataSource.query(`UPDATE users SET status = 'blocked' WHERE id = '${id}'`);
    const blocked = await requestCode(phone);
    expectPage(blocked, 200);
    const otherUser = await app().addUser();
    expect(withoutSecrets(blocked, phone)).toBe(
      withoutSecrets(await requestCode(otherUser.phone), otherUser.phone),
    );
    await expectNoMessageTo(phone);
  });

  it('accepts ten concurrent forms with different phones for one authorization request', async () => {
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    const users = await Promise.all(Array.from({ length: 10 }, () => app().addUser()));
    const responses = await Promise.all(
      users.map(({ phone }) => visitor.submit(page, SIGN_IN, { phone })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
  });

  it('O52 sends a message to a number of a served country', async () => {
    await app().addUser({ phone: '+4930123457' });
    expectPage(await requestCode('+4930123457'), 200);
    expect(await app().sms.password('+4930123457')).toMatch(/^\d{6}$/);
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

  it('O52 limits the /64 network of an IPv6 subscriber to twenty messages an hour', async () => {
    for (let each = 10; each < 10 + MESSAGES_PER_ADDRESS; each += 1)
      expectPage(await requestCode(`+141555521${each}`, `2001:db8:1:2::${each}`), 200);
    expectPage(await requestCode('+14155552130', '2001:db8:1:2:ffff::1'), 429);
    expectPage(await requestCode('+14155552131', '2001:db8:1:3::1'), 200);
  });

  it.each([
    ['/56', 40, '2001:db8:2:', '2001:db8:2:100::1'],
    ['/48', 100, '2001:db8:3:', '2001:db8:4::1'],
  ])(
    'O52 limits all networks of an IPv6 %s to %i messages an hour',
    async (bits, limit, prefix, other) => {
      // A /64 of its own for each message: within one /56, or in a /56 each.
      const step = bits === '/56' ? 1 : 256;
      const addressOf = (each: number): string => `${prefix}${(each * step).toString(16)}::1`;
      const base = bits === '/56' ? 22_000 : 23_000;
      for (let each = 1; each <= limit; each += 1)
        expectPage(await requestCode(`+14155${base + each}0`, addressOf(each)), 200);
      expectPage(await requestCode(`+14155${base}0`, addressOf(limit + 1)), 429);
      expectPage(await requestCode(`+14155${base}1`, other), 200);
    },
  );
});
