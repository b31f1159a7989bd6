import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { OtpPause, SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { UsersService, type UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, hiddenField, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import {
  authorizeLink,
  exchange,
  isTokenAccepted,
  newCode,
  redirectParameters,
  sendRefresh,
} from '../support/oauth-flow.js';
import { expectPage, expectTokenError, json, type TokenBody } from '../support/responses.js';
import {
  DECISION,
  expectConsentPage,
  SIGN_IN,
  submitPhone,
  VERIFY,
  withoutSecrets,
  wrongCode,
} from '../support/sign-in.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';

const CODE = '424242';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const UNKNOWN = '+14155550177';
const TEST_ACCOUNT = 'This is a test account, which works only with test apps.';
const TEST_APP = 'You cannot use your own account with a test app.';

onOneEngine('Test mode', (database) => {
  const app = useTestApp(database, DEFAULT_LIMITS);
  let testApp: TestClient;
  let realApp: TestClient;
  let testMember: UserWithPhone;
  let realMember: UserWithPhone;

  beforeEach(async () => {
    app().clock.advance(DAY);
    testApp = await app().addClient({ test: true });
    realApp = await app().addClient();
    testMember = await app().addUser({ testCode: CODE });
    realMember = await app().addUser();
  });

  /** Submits the phone number and the code. Returns the page after it. */
  async function enterCode(
    client: TestClient,
    { phone }: UserWithPhone,
    { code = CODE, visitor = new Browser(app()) } = {},
  ): Promise<Page> {
    const codePage = await submitPhone(visitor, authorizeLink(client), phone);
    return visitor.submit(codePage, VERIFY, { code });
  }

  /** The fields of a form of this page, which bind it to the browser. */
  const bindingOf = (page: Page): Record<string, string> => ({
    transaction: hiddenField(page, 'transaction'),
    token: hiddenField(page, 'token'),
  });

  async function rows(): Promise<number[]> {
    const { manager } = app().dataSource;
    return [await manager.count(Grant), await manager.count(SignInSession)];
  }

  /** Expects that no message was sent to the phone. Earlier messages have arrived once another user has received one. */
  async function expectNoMessageTo({ phone }: UserWithPhone): Promise<void> {
    const other = await app().addUser();
    await submitPhone(new Browser(app()), authorizeLink(realApp), other.phone);
    await app().sms.password(other.phone);
    expect(app().sms.count(phone)).toBe(0);
  }

  describe('for a test member at a test app', () => {
    it('O172 runs the whole flow with the fixed code, sends no message and records the sign-in', async () => {
      const visitor = new Browser(app());
      const phonePage = await visitor.open(authorizeLink(testApp));
      expect(phonePage.html).toContain('<span class="badge">Test app</span>');
      expect(phonePage.html).toContain('We send no message.');
      const codePage = await visitor.submit(phonePage, SIGN_IN, { phone: testMember.phone });
      expect(codePage.html).toContain('Enter the fixed code of the test account');
      const consent = await visitor.submit(codePage, VERIFY, { code: CODE });
      expectConsentPage(consent);
      expect(consent.html).toContain('<span class="badge">Test app</span>');
      const code = redirectParameters(await visitor.allow(consent, ['profile.read'])).get('code');
      const tokens = await json<TokenBody>(await exchange(app(), testApp, code ?? ''));
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);

      await expectNoMessageTo(testMember);
      // The clock stands still, so the order is random.
      const events = await auditTrail(app().dataSource, testMember.id);
      expect(events).toHaveLength(2);
      expect(events).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ action: 'user.added', details: { test: true } }),
          expect.objectContaining({
            action: 'user.signed_in',
            details: { clientId: testApp.clientId, device: 'new' },
          }),
        ]),
      );
      const stored = await app().dataSource.manager.findOneByOrFail(User, { id: testMember.id });
      expect(stored.testCodeHash).toMatch(/^[0-9a-f]{64}$/);
    });

    it('has a client_id that begins svc_app_test_, as only those of test apps do', () => {
      expect(testApp.clientId).toMatch(/^svc_app_test_[0-9a-z]{26}$/);
      expect(realApp.clientId).toMatch(/^svc_app_(?!test)[0-9a-z]{26}$/);
    });

    it('O172 accepts 30 sign-ins in a minute, more than the limits of messages to a phone and from an address', async () => {
      for (let number = 1; number <= 30; number += 1)
        expectConsentPage(await enterCode(testApp, testMember));
    });

    it('O172 accepts the code also while an operator pauses all messages', async () => {
      const { manager } = app().dataSource;
      await manager.insert(OtpPause, { id: 'all', pausedAt: app().clock.now() });
      try {
        const phonePage = await new Browser(app()).open(authorizeLink(testApp));
        expect(phonePage.html).not.toContain('We are not sending codes');
        expectConsentPage(await enterCode(testApp, testMember));
      } finally {
        await manager.delete(OtpPause, { id: 'all' });
      }
    });

    it('O172 limits guesses: three for a requested code, and ten in 15 minutes', async () => {
      for (const remaining of [3, 3, 3, 1]) {
        const visitor = new Browser(app());
        let page = await submitPhone(visitor, authorizeLink(testApp), testMember.phone);
        for (let offset = 1; offset <= remaining; offset += 1)
          page = await visitor.submit(page, VERIFY, { code: wrongCode(CODE, offset) });
        if (remaining === 3) expect(page.html).toContain('it was the last attempt');
      }
      const link = authorizeLink(testApp);
      expectPage(await submitPhone(new Browser(app()), link, testMember.phone), 429);
    });

    it('O172 no longer accepts a code that the operator has changed', async () => {
      const visitor = new Browser(app());
      const codePage = await submitPhone(visitor, authorizeLink(testApp), testMember.phone);
      const change = { actor: 'test' };
      await app().service(UsersService).update(testMember.id, { code: '515151' }, change);
      expectPage(await visitor.submit(codePage, VERIFY, { code: CODE }), 400);
      expectPage(await enterCode(testApp, testMember), 400);
      expectConsentPage(await enterCode(testApp, testMember, { code: '515151' }));
      const events = await auditTrail(app().dataSource, testMember.id);
      expect(events).toContainEqual(
        expect.objectContaining({
          action: 'user.updated',
          details: { fields: ['testCodeHash'] },
        }),
      );
    });
  });

  describe('for a test member at a real app', () => {
    it('O171 treats the number like an unknown one until the code is entered, also in the limits of messages', async () => {
      const responses = async (phone: string): Promise<string[]> => {
        const visitor = new Browser(app());
        const link = authorizeLink(realApp);
        const codePage = await submitPhone(visitor, link, phone);
        const wrong = await visitor.submit(codePage, VERIFY, { code: '111111' });
        const again = await submitPhone(new Browser(app()), link, phone);
        return [codePage, wrong, again].map((page) => withoutSecrets(page, phone));
      };
      const unknown = await responses(UNKNOWN);
      expect(await responses(testMember.phone)).toEqual(unknown);
      expect(unknown[2]).toMatch(/^429 /);
      await expectNoMessageTo(testMember);
    });

    it('O171 runs the same statements as for an unknown number', async () => {
      const statementsFor = async (phone: string): Promise<string[]> => {
        const visitor = new Browser(app());
        const page = await visitor.open(authorizeLink(realApp));
        return app().statementsOf(async () => {
          await visitor.submit(page, SIGN_IN, { phone }, { follow: false });
          await app().service(SmsQueue).idle();
        });
      };
      // The first request of an address adds the row of its message limit.
      await statementsFor('+14155559974');
      const unknown = await statementsFor('+14155559975');
      expect(unknown).not.toEqual([]);
      expect(await statementsFor(testMember.phone)).toEqual(unknown);
    });

    it('O171 refuses the right code with an explanation, stores nothing and records it', async () => {
      const visitor = new Browser(app());
      const before = await rows();
      const page = await enterCode(realApp, testMember, { visitor });
      expectPage(page, 400);
      expect(page.html).toContain(TEST_ACCOUNT);
      expect(page.html).not.toContain('name="decision"');
      expect(visitor.cookies.has('session')).toBe(false);
      expect(await rows()).toEqual(before);
      const events = await auditTrail(app().dataSource, testMember.id);
      expect(events).toContainEqual(
        expect.objectContaining({
          action: 'user.sign_in_refused',
          details: { clientId: realApp.clientId, device: 'new' },
        }),
      );
      expect(events.map(({ action }) => action)).not.toContain('user.signed_in');
    });

    it('O171 refuses a code that was requested at a test app', async () => {
      const visitor = new Browser(app());
      await submitPhone(visitor, authorizeLink(testApp), testMember.phone);
      // The page of the real app, in the same browser.
      const page = await visitor.open(authorizeLink(realApp));
      const body = new URLSearchParams({
        ...bindingOf(page),
        phone: testMember.phone,
        code: CODE,
      });
      const refused = await visitor.post(VERIFY, body);
      expectPage(refused, 400);
      expect(refused.html).toContain(TEST_ACCOUNT);
      expect(visitor.cookies.has('session')).toBe(false);
    });

    it('O171 does not accept the session of the test member, and says why', async () => {
      const visitor = new Browser(app());
      expectConsentPage(await enterCode(testApp, testMember, { visitor }));
      const page = await visitor.open(authorizeLink(realApp));
      expectPage(page, 200);
      expect(page.html).toContain(TEST_ACCOUNT);
      expect(page.html).not.toContain('name="decision"');
      // The number of the session is not enough, either.
      const codePage = await visitor.submit(page, SIGN_IN, { phone: testMember.phone });
      expect(codePage.html).toContain('name="code"');
    });
  });

  describe('for a real member at a test app', () => {
    it('O171 treats the number like an unknown one and sends no message', async () => {
      const responses = async (phone: string): Promise<string[]> => {
        const visitor = new Browser(app());
        const link = authorizeLink(testApp);
        const codePage = await submitPhone(visitor, link, phone);
        const wrong = await visitor.submit(codePage, VERIFY, { code: '111111' });
        const again = await submitPhone(new Browser(app()), link, phone);
        return [codePage, wrong, again].map((page) => withoutSecrets(page, phone));
      };
      const unknown = await responses(UNKNOWN);
      expect(await responses(realMember.phone)).toEqual(unknown);
      expect(unknown[2]).toMatch(/^429 /);
      await expectNoMessageTo(realMember);
    });

    it('O171 does not open the account with the fixed code of a test member', async () => {
      expectPage(await enterCode(testApp, realMember), 400);
      expectPage(await enterCode(realApp, await app().addUser()), 400);
    });

    it('O171 refuses a code from a message of a real app with an explanation, and stores nothing', async () => {
      const visitor = new Browser(app());
      await submitPhone(visitor, authorizeLink(realApp), realMember.phone);
      const code = await app().sms.password(realMember.phone);
      const before = await rows();
      const page = await visitor.open(authorizeLink(testApp));
      const body = new URLSearchParams({
        ...bindingOf(page),
        phone: realMember.phone,
        code,
      });
      const refused = await visitor.post(VERIFY, body);
      expectPage(refused, 400);
      expect(refused.html).toContain(TEST_APP);
      expect(visitor.cookies.has('session')).toBe(false);
      expect(await rows()).toEqual(before);
    });

    it('O171 does not accept the session of the real member, says why, and keeps it for real apps', async () => {
      const visitor = new Browser(app());
      expectConsentPage(await visitor.signIn(authorizeLink(realApp), realMember));
      const page = await visitor.open(authorizeLink(testApp));
      expectPage(page, 200);
      expect(page.html).toContain(TEST_APP);
      expect(page.html).not.toContain('name="decision"');
      const codePage = await visitor.submit(page, SIGN_IN, { phone: realMember.phone });
      expect(codePage.html).toContain('name="code"');
      expectConsentPage(await visitor.open(authorizeLink(realApp)));
    });

    it('O171 refuses a decision that the real member submits for the test app', async () => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(realApp), realMember);
      const page = await visitor.open(authorizeLink(testApp));
      const fields = {
        ...bindingOf(page),
        user: realMember.id,
        identity: hiddenField(consent, 'identity'),
        scope: 'profile.read',
        decision: 'approve',
      };
      const before = await rows();
      expectPage(await visitor.post(DECISION, new URLSearchParams(fields)), 403);
      expect(await rows()).toEqual(before);
    });
  });

  it('O171 signs a test member in to their own account pages only', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open('/account/apps');
    const codePage = await visitor.submit(phonePage, '/account/sign-in', {
      phone: testMember.phone,
    });
    const page = await visitor.submit(codePage, '/account/verify', { code: CODE });
    expectPage(page, 200);
    expect(page.html).toContain(testMember.name);
    expectConsentPage(await visitor.open(authorizeLink(testApp)));
    expect((await visitor.open(authorizeLink(realApp))).html).toContain(TEST_ACCOUNT);
    await expectNoMessageTo(testMember);
  });

  it('O171 rejects tokens and codes of a grant between a test app and a real member, or the reverse', async () => {
    const pairs = [
      [realMember, testApp],
      [testMember, realApp],
    ] as const;
    for (const [user, client] of pairs) {
      const { accessToken, refreshToken } = await app().issueTokens(user, client);
      expect(await isTokenAccepted(app(), accessToken)).toBe(false);
      await expectTokenError(await sendRefresh(app(), client, refreshToken), 'invalid_grant');
    }
    // A code that was issued before the app became a test app, which no command does.
    const code = await newCode(app(), realApp, realMember);
    await app().dataSource.query('UPDATE apps SET test = 1 WHERE client_id = ?', [
      realApp.clientId,
    ]);
    await expectTokenError(await exchange(app(), realApp, code), 'invalid_grant');
  });

  it('gives a test app access tokens of its own lifetime, also after a refresh, and real apps those of an hour', async () => {
    const short = await app().addClient({ test: true, accessTokenSeconds: 60 });
    const visitor = new Browser(app());
    const consent = await enterCode(short, testMember, { visitor });
    const code = redirectParameters(await visitor.allow(consent, ['profile.read'])).get('code');
    const tokens = await json<TokenBody>(await exchange(app(), short, code ?? ''));
    expect(tokens.expires_in).toBe(60);
    app().clock.advance(59_000);
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
    app().clock.advance(1000);
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    const refreshed = await json<TokenBody>(await sendRefresh(app(), short, tokens.refresh_token));
    expect(refreshed.expires_in).toBe(60);
    expect(await isTokenAccepted(app(), refreshed.access_token)).toBe(true);

    const real = await newCode(app(), realApp, realMember);
    expect(await json(await exchange(app(), realApp, real))).toMatchObject({ expires_in: 3600 });
    await expect(app().addClient({ accessTokenSeconds: 60 })).rejects.toThrow(
      'Only a test app can have a lifetime of its own.',
    );
  });
});
