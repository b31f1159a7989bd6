import { UserAccess } from '../../src/modules/oauth/account/user-access.service.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { TrustedDevice } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { expectApiError } from '../support/api.js';
import { Browser, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member } from '../support/member.js';
import { authorizeLink, isTokenAccepted, requestToken, sendForm } from '../support/oauth-flow.js';
import { expectPage, expectTokenError, json } from '../support/responses.js';
import { expectConsentPage, SIGN_IN, submitPhone, VERIFY } from '../support/sign-in.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

const CODE = '424242';
const DAY = 86_400_000;
const TOKEN_CALLS = 20;

onOneEngine('Attacks on test mode', (database) => {
  const app = useTestApp(database, rateLimits({ 'token-calls': TOKEN_CALLS }));
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

  async function enterCode(
    client: TestClient,
    phone: string,
    visitor = new Browser(app()),
  ): Promise<Page> {
    app().clock.advance(61_000);
    const codePage = await submitPhone(visitor, authorizeLink(client), phone);
    return visitor.submit(codePage, VERIFY, { code: CODE });
  }

  describe('on who is a member', () => {
    /** The statements of both forms of the sign-in. */
    async function statementsFor(client: TestClient, phone: string): Promise<string[]> {
      const visitor = new Browser(app());
      const page = await visitor.open(authorizeLink(client));
      let sent: Page | undefined;
      const sending = await app().statementsOf(async () => {
        sent = await visitor.submit(page, SIGN_IN, { phone }, { follow: false });
        await app().service(SmsQueue).idle();
      });
      const codePage = await visitor.open(sent?.location ?? '');
      const guess = { code: '111111' };
      const guessing = await app().statementsOf(() =>
        visitor.submit(codePage, VERIFY, guess, { follow: false }),
      );
      return [...sending, ...guessing];
    }

    it('O171 runs the same statements for a member and a stranger, also for a wrong code, at the apps of the other kind', async () => {
      for (const [client, { phone }, number] of [
        [testApp, realMember, '+1415555997'],
        [realApp, testMember, '+1415555998'],
      ] as const) {
        // The first request of an address adds rows of its limits.
        await statementsFor(client, `${number}1`);
        const stranger = await statementsFor(client, `${number}2`);
        expect(stranger.length).toBeGreaterThan(10);
        expect(await statementsFor(client, phone)).toEqual(stranger);
      }
    });
  });

  describe('on posts', () => {
    it('O171 reads and changes nothing of the other kind with a token, and uses no quota of it', async () => {
      const test = await Member.join(app(), { user: testMember, client: testApp });
      const real = await Member.join(app(), { user: realMember, client: realApp });
      for (const [thief, owner] of [
        [test, real],
        [real, test],
      ] as const) {
        const { id } = await owner.publish();
        const comment = await owner.comment(id);
        const before = await footprintOf(owner);
        for (const response of [
          await thief.get(`/posts/${id}`),
          await thief.get(`/posts/${id}/analytics`),
          await thief.get(`/posts/${id}/comments`),
          await thief.post(`/posts/${id}/comments`, { text: 'Mine now' }),
          await thief.delete(`/posts/${id}`),
          await thief.delete(`/comments/${comment.id}`),
        ])
          await expectApiError(response, 404, 'not_found');
        await thief.publish();
        expect(await footprintOf(owner)).toEqual(before);
      }
    });
  });

  it('O171 opens no account when a number goes from a real member to a test member and back, with pages, sessions, devices and tokens of before', async () => {
    const { phone } = testMember;
    const access = app().service(UserAccess);
    const change = { actor: 'test' };
    const { manager } = app().dataSource;
    await access.changePhone(testMember.id, null, change);
    await access.changePhone(realMember.id, phone, change);

    const ofReal = new Browser(app());
    const real = { ...realMember, phone };
    expectConsentPage(await ofReal.signIn(authorizeLink(realApp), real));
    const realToken = await app().accessToken(real, realApp);
    app().clock.advance(61_000);
    const waitingForReal = new Browser(app());
    const realPage = await submitPhone(waitingForReal, authorizeLink(realApp), phone);
    await access.changePhone(realMember.id, null, change);
    await access.changePhone(testMember.id, phone, change);
    expect(await isTokenAccepted(app(), realToken)).toBe(false);
    expect(await manager.countBy(TrustedDevice, { phone })).toBe(0);
    expectPage(await waitingForReal.submit(realPage, VERIFY, { code: CODE }), 400);
    const account = await ofReal.open('/account/apps');
    expect(account.html).not.toContain(testMember.name);

    const ofTest = new Browser(app());
    expectConsentPage(await enterCode(testApp, phone, ofTest));
    const testToken = await app().accessToken(testMember, testApp);
    app().clock.advance(61_000);
    const waiting = await submitPhone(ofTest, authorizeLink(realApp), phone);
    await access.changePhone(realMember.id, phone, change, { reassign: true });
    expect(await isTokenAccepted(app(), testToken)).toBe(false);
    expectPage(await ofTest.submit(waiting, VERIFY, { code: CODE }), 400);
    const sent = app().sms.count(phone);
    for (const client of [testApp, realApp])
      expectPage(await enterCode(client, phone, ofTest), 400);
    // The message to the real member may arrive later, and its code must not be taken for the next one.
    await app().sms.password(phone, { afterMessages: sent });
    expect(await manager.countBy(SignInSession, { userId: realMember.id })).toBe(0);
    app().clock.advance(DAY);
    expectConsentPage(await new Browser(app()).signIn(authorizeLink(realApp), real));
  });

  describe('with Test-Fault', () => {
    const fault = (value: string): Record<string, string> => ({ 'test-fault': value });
    const unknown = { grant_type: 'refresh_token', refresh_token: 'svcrt_none' };

    it.for(['service_unavailable', 'slow=1', 'teapot', 'lost_response'])(
      'O173 counts token requests with %s towards the limit of the app',
      async (value) => {
        const publicApp = await app().addClient({ test: true, kind: 'public' });
        const send = () => requestToken(app(), publicApp, unknown, fault(value));
        for (let call = 1; call <= TOKEN_CALLS; call += 1) await send().catch(() => undefined);
        const response = await send();
        expect(response.status).toBe(429);
        expect(await json(response)).toMatchObject({ error: 'too_many_attempts' });
      },
    );

    it('O173 hears it from the authenticated test app only, and only at the token endpoint', async () => {
      const publicTest = await app().addClient({ test: true, kind: 'public' });
      const header = fault('service_unavailable');
      const as = (client: TestClient, form = {}, more = {}) =>
        requestToken(app(), client, { ...unknown, ...form }, { ...header, ...more });
      await expectTokenError(await as(publicTest), 'temporarily_unavailable', 503);
      // Another app whose id is a test app's, without its secret, and beside credentials of a real app.
      await expectTokenError(
        await as(testApp, { client_secret: realApp.secret }),
        'invalid_client',
      );
      await expectTokenError(
        await as(realApp, { client_id: [publicTest.clientId, realApp.clientId].join(' ') }),
        'invalid_client',
      );
      const basic = Buffer.from(`${realApp.clientId}:${realApp.secret}`).toString('base64');
      const authorization = { authorization: `Basic ${basic}` };
      await expectTokenError(
        await as(publicTest, { client_secret: undefined }, authorization),
        'invalid_request',
      );
      await expectTokenError(await as(realApp), 'invalid_grant');
      const token = { token: 'svcrt_none' };
      for (const path of ['/oauth/revoke', '/oauth/introspect'])
        expect((await sendForm(app(), path, testApp, token, header)).status).toBe(200);
    });

    it('O173 ignores it in preflight requests, on pages, and before authentication', async () => {
      const headers = { ...fault('service_unavailable'), origin: 'https://garden.example' };
      for (const path of ['/oauth/token', '/dev/v1/posts'])
        expect((await app().fetch(path, { method: 'OPTIONS', headers })).status).toBe(204);
      const page = await app().fetch(authorizeLink(testApp), { headers });
      expect(page.status).toBe(200);
      await expectApiError(await app().fetch('/dev/v1/me', { headers }), 401, 'unauthorized');
    });
  });
});
