import { ConsoleLogger } from '@nestjs/common';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms-queue.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const DAY = 24 * 3_600_000;

async function ask(app: TestApp, client: TestClient, phone: string): Promise<Page> {
  const visitor = new Browser(app);
  return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
}

async function phones(app: TestApp, howMany: number): Promise<string[]> {
  const users = await Promise.all(Array.from({ length: howMany }, () => app.addUser()));
  return users.map(({ phone }) => phone);
}

onOneEngine('The messages of a day', (database) => {
  const app = useTestApp(database, { OTP_DAILY_TOTAL: '5', OTP_SECONDS: '1' });
  let client: TestClient;
  let errors: string[];

  beforeAll(() => {
    const logger = new ConsoleLogger();
    app().nest.useLogger(
      Object.assign(logger, { error: (line: string) => errors.push(line), warn: () => undefined }),
    );
  });

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    app().sms.messages.length = 0;
    errors = [];
    client = await app().addClient();
  });

  async function alarms(): Promise<number> {
    const trail = await auditTrail(app().dataSource, 'otp');
    return trail.filter(({ action }) => action === 'otp.daily_total_reached').length;
  }

  /** What is still on its way would belong to the next day. */
  afterEach(() => app().service(SmsQueue).idle());

  async function sendFive(): Promise<void> {
    for (const phone of await phones(app(), 5)) expectPage(await ask(app(), client, phone), 200);
    await expect.poll(() => app().sms.messages).toHaveLength(5);
  }

  it('O52 When they are used up, known and unknown phones alike are asked to wait', async () => {
    await sendFive();
    const [known = ''] = await phones(app(), 1);
    for (const phone of [known, '+14155559921']) {
      const page = await ask(app(), client, phone);
      expectPage(page, 429);
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
    }
    expect(app().sms.messages).toHaveLength(5);
  });

  it('O52 Phones that nobody has use none of them up', async () => {
    for (let each = 0; each < 10; each += 1)
      expectPage(await ask(app(), client, `+141555598${10 + each}`), 200);
    await sendFive();
  });

  it('O52 Many requests at once send no message more', async () => {
    const answers = await Promise.all(
      (await phones(app(), 20)).map((phone) => ask(app(), client, phone)),
    );
    for (const { status } of answers) expect([200, 429]).toContain(status);
    await app().service(SmsQueue).idle();
    expect(app().sms.messages).toHaveLength(5);
    const [late = ''] = await phones(app(), 1);
    expectPage(await ask(app(), client, late), 429);
    expect(app().sms.messages).toHaveLength(5);
  });

  it('O52 Reaching the last one is an error in the log and one audit event, and so the next time', async () => {
    const before = await alarms();
    for (let day = 1; day <= 2; day += 1) {
      await Promise.all((await phones(app(), 12)).map((phone) => ask(app(), client, phone)));
      await app().service(SmsQueue).idle();
      for (const phone of await phones(app(), 3)) await ask(app(), client, phone);
      expect(await alarms()).toBe(before + day);
      expect(errors).toHaveLength(day);
      app().clock.advance(2 * DAY);
    }
    expect(errors[0]).toContain('OTP_DAILY_TOTAL');
    const [event] = (await auditTrail(app().dataSource, 'otp')).slice(-1);
    expect(event).toEqual({
      action: 'otp.daily_total_reached',
      actor: 'service',
      reason: null,
      details: { limit: 5 },
    });
  });

  it('O52 The window rolls: a day after the first message there is one again', async () => {
    const [first = '', ...others] = await phones(app(), 5);
    await ask(app(), client, first);
    await app().sms.password(first);
    app().clock.advance(DAY / 2);
    for (const phone of others) expectPage(await ask(app(), client, phone), 200);
    await expect.poll(() => app().sms.messages).toHaveLength(5);
    const [sixth = '', seventh = ''] = await phones(app(), 2);
    const refused = await ask(app(), client, sixth);
    expectPage(refused, 429);
    app().clock.advance(Number(refused.headers.get('retry-after')) * 1000);
    expectPage(await ask(app(), client, sixth), 200);
    await app().sms.password(sixth);
    expectPage(await ask(app(), client, seventh), 429);
  });
});

onOneEngine('Countries that get messages', (database) => {
  const app = useTestApp(database, {
    OTP_COUNTRIES: 'US,DE',
    OTP_RESEND_SECONDS: '60',
    OTP_ADDRESS_HOURLY: '3',
  });
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(DAY);
    app().sms.messages.length = 0;
    client = await app().addClient();
  });

  it.each(['+14155550191', '+4930123456'])('O52 %s is sent one', async (phone) => {
    await app().addUser({ phone });
    expectPage(await ask(app(), client, phone), 200);
    expect(await app().sms.password(phone)).toMatch(/^\d{6}$/);
  });

  it.each([
    ['+14165550191', 'Canada, which shares +1'],
    ['+33123456789', 'France'],
    ['+883510000000', 'no country'],
    ['+19995550191', 'an area of +1 that nobody has'],
  ])('O52 %s, of %s, gets a message by the field and nothing else', async (phone) => {
    await app().addUser({ phone });
    const page = await ask(app(), client, phone);
    expectPage(page, 400);
    expect(page.title).toMatch(/^Error: /);
    expect(page.html).toContain('aria-invalid="true"');
    const witness = await app().addUser();
    await ask(app(), client, witness.phone);
    await app().sms.password(witness.phone);
    expect(app().sms.messages.map(({ to }) => to)).toEqual([witness.phone]);
  });

  it('O52 A country that is not served tells nothing about who has a phone, and costs nothing', async () => {
    const user = await app().addUser({ phone: '+33123456780' });
    const answers: Page[] = [];
    for (const phone of [user.phone, '+33123456781', user.phone, '+33123456781'])
      answers.push(await ask(app(), client, phone));
    const plain = answers.map(({ status, html }) =>
      `${status} ${html}`
        .replaceAll(/name="(transaction|token)" value="[^"]*"/g, '')
        .replaceAll(/\+3312345678\d/g, ''),
    );
    expect(new Set(plain).size).toBe(1);
    for (const phone of await phones(app(), 3)) expectPage(await ask(app(), client, phone), 200);
  });
});

onOneEngine('One phone, however and wherever it is typed', (database) => {
  const app = useTestApp(database, { OTP_RESEND_SECONDS: '60', OTP_DEFAULT_COUNTRY: 'US' });
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(DAY);
    app().sms.messages.length = 0;
    client = await app().addClient();
  });

  it.each(['+1 (415) 555-2671', '0014155552671', ' +14155552671 ', '(415) 555-2671'])(
    'O53 "%s" reaches the user who was added as +14155552671, and spends that budget',
    async (typed) => {
      const { phone } = await app()
        .addUser({ phone: '+14155552671' })
        .catch(() => ({
          phone: '+14155552671',
        }));
      const page = await ask(app(), client, typed);
      expectPage(page, 200);
      await app().sms.password(phone);
      for (const again of ['+14155552671', '001 415 555 2671', '415-555-2671', typed])
        expectPage(await ask(app(), client, again), 429);
    },
  );

  it('O55 The code that one browser was sent is refused in another that asked for the same phone', async () => {
    const user = await app().addUser();
    const owner = new Browser(app());
    const other = new Browser(app());
    const ownPage = await owner.submit(await owner.open(authorizeLink(client)), SIGN_IN, {
      phone: user.phone,
    });
    const code = await app().sms.password(user.phone);
    app().clock.advance(62_000);
    const otherPage = await other.submit(await other.open(authorizeLink(client)), SIGN_IN, {
      phone: user.phone,
    });
    await expect.poll(() => app().sms.messages).toHaveLength(2);
    if ((await app().sms.password(user.phone)) !== code) {
      const refused = await other.submit(otherPage, VERIFY, { code });
      expectPage(refused, 400);
      expect(refused.html).not.toContain('name="decision"');
    }
    expect((await owner.submit(ownPage, VERIFY, { code })).html).toContain('name="decision"');
  });

  it('O45 A code works to the last millisecond of its five minutes, and not in the next', async () => {
    for (const [milliseconds, works] of [
      [299_999, true],
      [300_000, false],
    ] as const) {
      const user = await app().addUser();
      const visitor = new Browser(app());
      const page = await visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, {
        phone: user.phone,
      });
      const code = await app().sms.password(user.phone);
      app().clock.advance(milliseconds);
      const done = await visitor.submit(page, VERIFY, { code });
      expect(done.html.includes('name="decision"')).toBe(works);
    }
  });
});

onOneEngine('A budget of messages that is used up', (database) => {
  const app = useTestApp(database, { OTP_ADDRESS_HOURLY: '3' });

  it('O144 Is written to the audit log once, without the phones', async () => {
    const client = await app().addClient();
    const answers: number[] = [];
    for (let each = 0; each < 5; each += 1)
      answers.push((await ask(app(), client, `+141555597${10 + each}`)).status);
    expect(answers).toEqual([200, 200, 200, 429, 429]);
    const trail = await auditTrail(app().dataSource, 'otp-address');
    expect(trail.map(({ action }) => action)).toEqual(['oauth.throttled']);
    expect(JSON.stringify(trail)).not.toContain('141555597');
  });
});
