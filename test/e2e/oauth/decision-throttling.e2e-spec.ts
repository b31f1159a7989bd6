import type { User } from '../../../src/modules/users/user.entity.js';
import { SCOPES } from '../../../src/common/scopes.js';
import { onEachEngine } from '../../support/engines.js';
import { expectPage } from '../../support/oauth-answers.js';
import { useTestApp, type TestApp, type TestClient } from '../../support/test-app.js';
import { authorizeLink, redirectParameters, Visitor, type Page } from '../../support/visitor.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const DECISION = '/oauth/authorize/decision';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function expectTooMany(page: Page): number {
  expectPage(page, 429);
  expect(page.html).toContain('Too many attempts');
  const seconds = page.headers.get('retry-after') ?? '';
  expect(seconds).toMatch(/^\d+$/);
  return Number(seconds);
}

async function failVerify(visitor: Visitor, page: Page, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let each = 0; each < times; each += 1)
    statuses.push((await visitor.submit(page, VERIFY, { code: '000000' })).status);
  return statuses;
}

async function codePage(app: TestApp, visitor: Visitor, phone = '+14155550123'): Promise<Page> {
  const phonePage = await visitor.open(authorizeLink(await app.addClient()));
  return visitor.submit(phonePage, SIGN_IN, { phone });
}

onEachEngine('Too many attempts at sign-in and decision', (database) => {
  const app = useTestApp(database, {
    OAUTH_DECISION_FAILURES: '20',
    OAUTH_DECISION_ADDRESS_FAILURES: '60',
    OAUTH_DECISION_CALLS: '60',
  });
  let client: TestClient;
  let user: User;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
    user = await app().addUser();
  });

  it('O127 After twenty wrong codes of one browser the answer is a page with 429', async () => {
    const visitor = new Visitor(app());
    const page = await codePage(app(), visitor);
    expect(await failVerify(visitor, page, 20)).toEqual(Array<number>(20).fill(400));
    const seconds = expectTooMany(await visitor.submit(page, VERIFY, { code: '000000' }));
    expect(seconds).toBeGreaterThan(14 * 60);
    expectTooMany(await visitor.submit(page, SIGN_IN));
    expectPage(await visitor.open(authorizeLink(client)), 200);
    app().clock.advance(seconds * 1000);
    expect((await visitor.signIn(authorizeLink(client), user)).html).toContain('name="decision"');
  });

  it('O127 Twenty forms with a wrong token are as many failures', async () => {
    const visitor = new Visitor(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    const wrong = { token: 'x'.repeat(43), decision: 'approve' };
    for (let each = 0; each < 20; each += 1)
      expectPage(await visitor.submit(page, DECISION, wrong), 403);
    expectTooMany(await visitor.submit(page, DECISION, { ...wrong, decision: 'deny' }));
  });

  it('O131 Another browser is not affected by the failures of the first', async () => {
    const visitor = new Visitor(app());
    await failVerify(visitor, await codePage(app(), visitor), 20);
    const page = await new Visitor(app()).signIn(authorizeLink(client), user);
    expectPage(page, 200);
  });

  it('O130 An address that changes its browser each time has one budget of sixty', async () => {
    const statuses: number[] = [];
    for (let browser = 0; browser < 4; browser += 1) {
      const visitor = new Visitor(app());
      statuses.push(...(await failVerify(visitor, await codePage(app(), visitor), 16)));
      app().clock.advance(1);
      if (browser === 3) expectTooMany(await codePage(app(), new Visitor(app())));
    }
    expect(statuses).toEqual([...Array<number>(60).fill(400), ...Array<number>(4).fill(429)]);
  });

  it('Forms that another site sends do not use up the budget of the person at the browser', async () => {
    const visitor = new Visitor(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const stranger = new Visitor(app());
    for (let each = 0; each < 70; each += 1)
      expectPage(await stranger.post(DECISION, new URLSearchParams(), headers), 403);
    const fields = { scope: [...SCOPES], decision: 'approve' };
    expect(redirectParameters(await visitor.submit(page, DECISION, fields)).has('code')).toBe(true);
  });

  it('Sixty steps of one browser are its budget, good ones included', async () => {
    const visitor = new Visitor(app());
    const page = await visitor.open(authorizeLink(client));
    for (let each = 0; each < 60; each += 1)
      await visitor.submit(page, SIGN_IN, { phone: 'nobody' });
    expectTooMany(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
  });
});

onEachEngine('Too many wrong codes for one phone', (database) => {
  const app = useTestApp(database, { OTP_PHONE_FAILURES: '10' });

  it('O48 Ten in fifteen minutes close it for every request, and a new message does not help', async () => {
    const user = await app().addUser();
    const visitor = new Visitor(app());
    for (let message = 1; message <= 3; message += 1) {
      const page = await codePage(app(), visitor, user.phone);
      await expect
        .poll(() => app().sms.messages.filter(({ to }) => to === user.phone).length)
        .toBe(message);
      const code = await app().sms.password(user.phone);
      const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
      if (message < 3) {
        for (let each = 0; each < 5; each += 1) await visitor.submit(page, VERIFY, { code: wrong });
      } else {
        const refused = await visitor.submit(page, VERIFY, { code });
        expectPage(refused, 429);
        expect(refused.html).toContain('Too many attempts');
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
    app().clock.advance(16 * MINUTE);
    const client = await app().addClient();
    app().sms.messages.length = 0;
    const page = await visitor.signIn(authorizeLink(client), user);
    expect(page.html).toContain('name="decision"');
  });
});
