import { DAY, MINUTE, SECOND } from '../../src/platform/clock.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import {
  expectConsentPage,
  SIGN_IN,
  submitPhone,
  trustedBrowser,
  VERIFY,
  withoutSecrets,
} from '../support/sign-in.js';
import { rateLimits, type TestClient } from '../support/test-app.js';

/** The default is 200: the tests would send hundreds of codes. */
const MAX_WRONG = 4;
const MESSAGE_PAUSE = 61 * SECOND;

onOneEngine('Wrong codes in the whole network', (database) => {
  const { app, read } = useMetricsApp(database, rateLimits({ 'wrong-codes-per-day': MAX_WRONG }));
  let client: TestClient;
  let user: UserWithPhone;
  /** The browser in which the user signed in before. */
  let trusted: Browser;
  let unknownPhones = 0;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    client = await app().addClient();
    user = await app().addUser();
    trusted = await trustedBrowser(app(), authorizeLink(client), user);
    app().clock.advance(10 * MINUTE);
    app().sms.messages.length = 0;
  });

  const requestCode = (visitor: Browser, phone = user.phone): Promise<Page> =>
    submitPhone(visitor, authorizeLink(client), phone);

  function newUnknownPhone(): string {
    unknownPhones += 1;
    return `+1415555${String(9500 + unknownPhones)}`;
  }

  /** Sends this number of wrong codes, one for each of as many phones without a user. */
  async function spray(count: number): Promise<void> {
    for (let each = 0; each < count; each += 1) {
      const visitor = new Browser(app());
      const page = await requestCode(visitor, newUnknownPhone());
      const code = page.html.includes('8-digit code') ? '12345678' : '123456';
      expectPage(await visitor.submit(page, VERIFY, { code }), 400);
    }
  }

  it('O48 sends strangers eight digits from the limit on, which sign in, and six again a day later', async () => {
    await spray(MAX_WRONG - 1);
    const before = await requestCode(new Browser(app()));
    expect(await app().sms.password(user.phone)).toMatch(/^\d{6}$/);
    expect(before.html).toContain('6-digit code');
    await spray(1);
    app().clock.advance(MESSAGE_PAUSE);
    const visitor = new Browser(app());
    const page = await requestCode(visitor);
    const code = await app().sms.password(user.phone, { afterMessages: 1 });
    expect(code).toMatch(/^\d{8}$/);
    expect(page.html).toContain('<label for="code">8-digit code</label>');
    const tooShort = await visitor.submit(page, VERIFY, { code: code.slice(0, 6) });
    expectPage(tooShort, 400);
    expect(tooShort.html).toContain('Enter the 8 digits of the code.');
    expectConsentPage(await visitor.submit(page, VERIFY, { code }));
    app().clock.advance(DAY + 30 * MINUTE);
    await requestCode(new Browser(app()));
    expect(await app().sms.password(user.phone, { afterMessages: 2 })).toMatch(/^\d{6}$/);
  });

  it('O48 keeps six digits and five guesses on a trusted device', async () => {
    await spray(MAX_WRONG);
    const page = await requestCode(trusted);
    const code = await app().sms.password(user.phone);
    expect(code).toMatch(/^\d{6}$/);
    expectConsentPage(await trusted.submit(page, VERIFY, { code }));
  });

  it('O48 no longer accepts a code of six digits that a stranger requested before', async () => {
    const visitor = new Browser(app());
    const page = await requestCode(visitor);
    const code = await app().sms.password(user.phone);
    await spray(MAX_WRONG);
    const rejected = await visitor.submit(page, VERIFY, { code });
    expectPage(rejected, 400);
    expect(rejected.html).toContain('This code has expired. Request a new one.');
    app().clock.advance(MESSAGE_PAUSE);
    const again = await visitor.submit(page, SIGN_IN, { again: '1' });
    const next = await app().sms.password(user.phone, { afterMessages: 1 });
    expectConsentPage(await visitor.submit(again, VERIFY, { code: next }));
  });

  it('O48 O54 shows the same page for a phone without a user', async () => {
    await spray(MAX_WRONG);
    const unknown = newUnknownPhone();
    const known = await requestCode(new Browser(app()));
    const other = await requestCode(new Browser(app()), unknown);
    expect(withoutSecrets(other, unknown)).toBe(withoutSecrets(known, user.phone));
  });

  it('O48 O144 records in the audit log and in metrics that the limit is reached', async () => {
    const before = (await auditTrail(app().dataSource, 'otp-wrong-codes')).length;
    await spray(MAX_WRONG + 2);
    const trail = await auditTrail(app().dataSource, 'otp-wrong-codes');
    expect(trail.slice(before).map(({ action }) => action)).toEqual(['oauth.throttled']);
    expect(await read('otp_wrong_codes')).toBe(MAX_WRONG + 2);
    expect(await read('otp_wrong_codes_limit')).toBe(MAX_WRONG);
  });
});
