import { MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { UserAccess } from '../../src/modules/oauth/account/user-access.service.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { TrustedDevice } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { auditTrail } from '../support/logs.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';
import {
  SIGN_IN,
  VERIFY,
  submitPhone,
  trustedBrowser,
  wrongCode,
  sendWrongCodes,
  expectConsentPage,
} from '../support/sign-in.js';

onOneEngine('One-time passwords: trusted device', (database) => {
  const app = useTestApp(database, DEFAULT_LIMITS);
  let client: TestClient;
  let user: UserWithPhone;
  /** The browser in which the user signed in before. */
  let trusted: Browser;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    client = await app().addClient();
    user = await app().addUser();
    trusted = await trustedBrowser(app(), authorizeLink(client), user);
    app().clock.advance(20 * MINUTE);
    app().sms.messages.length = 0;
  });

  const requestCode = (visitor: Browser, phone = user.phone): Promise<Page> =>
    submitPhone(visitor, authorizeLink(client), phone);

  /** Requests messages in the browser, and sends as many wrong codes for each: ten together. */
  async function useUpAttempts(visitor: Browser, timesEach: readonly number[]): Promise<void> {
    for (const [earlier, times] of timesEach.entries()) {
      const page = await requestCode(visitor);
      const code = await newestCode({ messages: earlier + 1 });
      await sendWrongCodes(visitor, page, { code, times });
      // O47 applies to a trusted device, too.
      expect((await visitor.submit(page, VERIFY, { code })).status).not.toBe(200);
      app().clock.advance(2 * MINUTE);
    }
  }

  /** Requests messages from other browsers until the limit of the phone is exceeded. */
  async function exhaustMessages(): Promise<void> {
    while ((await requestCode(new Browser(app()))).status === 200) {
      await app().service(SmsQueue).idle();
      app().clock.advance(2 * MINUTE);
    }
  }

  /** Waits until the inbox has this number of messages. Returns the newest code for the user. */
  async function newestCode({ messages }: { messages: number }): Promise<string> {
    await expect.poll(() => app().sms.messages).toHaveLength(messages);
    return app().sms.password(user.phone);
  }

  /** Sends wrong codes from other browsers until the limit of the phone is exceeded. */
  async function exhaustAttempts(): Promise<void> {
    await useUpAttempts(new Browser(app()), [3, 3, 3, 1]);
    app().sms.messages.length = 0;
  }

  it('O57 sends a message to a trusted device, and not to others, after others used up the messages of the hour', async () => {
    await exhaustMessages();
    const before = app().sms.messages.length;
    expectPage(await requestCode(new Browser(app())), 429);
    const page = await requestCode(trusted);
    expectPage(page, 200);
    const code = await newestCode({ messages: before + 1 });
    expectConsentPage(await trusted.submit(page, VERIFY, { code }));
  });

  it('O57 sends a trusted device a message within a minute after another browser requested one', async () => {
    expectPage(await requestCode(new Browser(app())), 200);
    expectPage(await requestCode(trusted), 200);
    await newestCode({ messages: 2 });
  });

  it('O57 limits the messages to all trusted devices of a phone like those to strangers', async () => {
    const devices = [trusted];
    for (let each = 0; each < 2; each += 1) {
      const other = new Browser(app());
      await other.signIn(authorizeLink(client), user);
      other.cookies.delete('session');
      devices.push(other);
      app().clock.advance(2 * MINUTE);
    }
    // The sign-ins above used up messages for strangers.
    app().clock.advance(DAY);
    app().sms.messages.length = 0;
    for (let each = 0; each < 40; each += 1) {
      await requestCode(devices[each % devices.length] as Browser);
      await app().service(SmsQueue).idle();
      app().clock.advance(30 * MINUTE);
    }
    expect(app().sms.messages).toHaveLength(10);
  });

  it('O57 sends a trusted device no second message for a second click within a minute', async () => {
    const page = await requestCode(trusted);
    await newestCode({ messages: 1 });
    const again = await trusted.submit(page, SIGN_IN, { again: '1' });
    expectPage(again, 429);
    expect(again.html).toContain('still works');
    expectConsentPage(
      await trusted.submit(again, VERIFY, { code: await newestCode({ messages: 1 }) }),
    );
  });

  it('O57 accepts ten attempts from a trusted device after others used up the ten of the phone', async () => {
    app().clock.advance(HOUR);
    const stranger = new Browser(app());
    const strangersPage = await requestCode(stranger);
    const strangersCode = await newestCode({ messages: 1 });
    app().clock.advance(2 * MINUTE);
    app().sms.messages.length = 0;
    await exhaustAttempts();
    // Four minutes after the stranger's message: its code has not expired.
    app().clock.advance(-6 * MINUTE);
    expectPage(await stranger.submit(strangersPage, VERIFY, { code: strangersCode }), 429);
    expectPage(await requestCode(new Browser(app())), 429);
    app().clock.advance(6 * MINUTE);
    const page = await requestCode(trusted);
    const code = await newestCode({ messages: 1 });
    await sendWrongCodes(trusted, page, { code, times: 4 });
    expectConsentPage(await trusted.submit(page, VERIFY, { code }));
  });

  it('O57 sends a trusted device no message after ten wrong codes', async () => {
    app().clock.advance(HOUR);
    await exhaustAttempts();
    await useUpAttempts(trusted, [5, 5]);
    expectPage(await requestCode(trusted), 429);
    expect(app().sms.messages).toHaveLength(2);
  });

  it('O57 does not apply the limits of the address to a trusted device', async () => {
    // With the user's own sign-in, these are the twenty messages of the hour.
    for (let each = 10; each < 29; each += 1)
      expectPage(await requestCode(new Browser(app()), `+141555562${each}`), 200);
    expectPage(await requestCode(new Browser(app())), 429);
    // The sixty failures of the address in fifteen minutes.
    for (let each = 0; each < 60; each += 1) {
      const stranger = new Browser(app());
      const page = await stranger.open(authorizeLink(client));
      const wrongToken = { token: 'x'.repeat(43), phone: user.phone };
      expectPage(await stranger.submit(page, SIGN_IN, wrongToken), 403);
    }
    const stranger = new Browser(app());
    const limited = await submitPhone(stranger, authorizeLink(client), '+14155556299');
    expect(limited.html).toContain('Too many attempts');
    const page = await requestCode(trusted);
    expectPage(page, 200);
    expectConsentPage(
      await trusted.submit(page, VERIFY, { code: await newestCode({ messages: 1 }) }),
    );
  });

  it('O57 lets a trusted device sign in although strangers locked the phone, which unlocks it', async () => {
    const failures = app().dataSource.getRepository(OtpFailures);
    await failures.save({
      phone: user.phone,
      failures: 100,
      lastAttemptAt: app().clock.now(),
      lockedUntil: new Date('9999-12-31T00:00:00Z'),
    });
    expectPage(await requestCode(new Browser(app())), 429);
    const page = await requestCode(trusted);
    expectConsentPage(
      await trusted.submit(page, VERIFY, { code: await newestCode({ messages: 1 }) }),
    );
    expect(await failures.countBy({ phone: user.phone })).toBe(0);
    app().clock.advance(2 * MINUTE);
    expectPage(await requestCode(new Browser(app())), 200);
  });

  it('O57 no longer trusts a device after a hundred wrong codes in a row', async () => {
    const devices = app().dataSource.getRepository(TrustedDevice);
    await devices.update({ phone: user.phone }, { failures: 99 });
    const page = await requestCode(trusted);
    const code = await newestCode({ messages: 1 });
    expectPage(await trusted.submit(page, VERIFY, { code: wrongCode(code, 1) }), 400);
    expect(await devices.countBy({ phone: user.phone })).toBe(0);
    expect(await auditTrail(app().dataSource, user.id)).toContainEqual(
      expect.objectContaining({ action: 'otp.device_distrusted' }),
    );
  });

  it('O57 counts wrong codes of a trusted device from zero after a sign-in, and updates its date', async () => {
    const devices = app().dataSource.getRepository(TrustedDevice);
    const [before] = await devices.findBy({ phone: user.phone });
    const page = await requestCode(trusted);
    const code = await newestCode({ messages: 1 });
    expectPage(await trusted.submit(page, VERIFY, { code: wrongCode(code, 1) }), 400);
    expect(await devices.findBy({ phone: user.phone })).toMatchObject([{ failures: 1 }]);
    await trusted.submit(page, VERIFY, { code });
    const after = await devices.findBy({ phone: user.phone });
    expect(after).toEqual([{ ...before, failures: 0, signedInAt: app().clock.now() }]);
    expect(before?.signedInAt).not.toEqual(after[0]?.signedInAt);
  });

  it('O57 forgets trusted devices with "user revoke-all"', async () => {
    await app().service(UserAccess).end(user.id, { actor: 'olga' });
    expect(await app().dataSource.getRepository(TrustedDevice).countBy({ phone: user.phone })).toBe(
      0,
    );
  });

  it('O57 trusts a device only for the phone that signed in', async () => {
    const otherUser = await app().addUser();
    expectPage(await requestCode(new Browser(app()), otherUser.phone), 200);
    expectPage(await requestCode(trusted, otherUser.phone), 429);
  });

  it('O57 does not trust a device after a wrong code', async () => {
    const stranger = new Browser(app());
    const page = await requestCode(stranger);
    await stranger.submit(page, VERIFY, { code: wrongCode(await newestCode({ messages: 1 }), 1) });
    const devices = app().dataSource.getRepository(TrustedDevice);
    expect(await devices.countBy({ phone: user.phone })).toBe(1);
  });
});
