import { setTimeout as sleep } from 'node:timers/promises';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms-queue.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function ask(app: TestApp, client: TestClient, phone: string): Promise<Page> {
  const visitor = new Browser(app);
  return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
}

/** The same, with what the proxy in front would say about the visitor's address. */
async function askFrom(
  app: TestApp,
  client: TestClient,
  address: string,
  phone: string,
): Promise<Page> {
  const visitor = new Browser(app);
  const page = await visitor.open(authorizeLink(client));
  const fields = new URLSearchParams({ phone });
  for (const name of ['transaction', 'token'])
    fields.set(name, new RegExp(`name="${name}" value="([^"]*)"`).exec(page.html)?.[1] ?? '');
  return visitor.post(SIGN_IN, fields, { 'x-forwarded-for': address });
}

/** Messages are sent beside the request, so that there are none can only be said after the next one arrived. */
async function messagesTo(app: TestApp, client: TestClient, phone: string): Promise<number> {
  const witness = await app.addUser();
  await ask(app, client, witness.phone);
  await app.sms.password(witness.phone);
  return app.sms.messages.filter(({ to }) => to === phone).length;
}

onOneEngine('Signing in by phone', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  it.each([
    '+1 (415) 555-2671',
    '0014155552671',
    ' +14155552671 ',
    '+1.415.555.2671',
    '＋14155552671',
  ])('O53 "%s" is the number that E.164 writes +14155552671', async (typed) => {
    const page = await ask(app(), client, typed);
    expectPage(page, 200);
    expect(page.html).toContain('value="+14155552671"');
  });

  it.each([
    'nobody',
    '415 555 2671',
    '',
    '+',
    '00',
    '+1',
    '+999123456789',
    '+49301234567890123',
    '+6281234567890123456',
    '9'.repeat(30),
    `+${'1'.repeat(5000)}`,
    `'; DROP TABLE users; --`,
    '<script>alert(1)</script>',
    '+14155552671\r\nBcc: +14155552672',
    '+1415\u0000555267',
  ])('O150 "%.30s" gets a message by the field', async (typed) => {
    const page = await ask(app(), client, typed);
    expectPage(page, 400);
    expect(page.title).toMatch(/^Error: /);
    const field = /<input[^>]*id="phone"[^>]*>/.exec(page.html)?.[0];
    expect(field).toContain('aria-invalid="true"');
    expect(field).toContain('aria-describedby="phone-error phone-hint"');
    expect(page.html).toMatch(/id="phone-error">.*Error:.* \S/);
    expect(page.html).not.toContain('<script');
  });

  it('O150 A number of another country with 00 in front is shown as E.164 writes it', async () => {
    const page = await ask(app(), client, '00442079460958');
    expectPage(page, 200);
    expect(page.html).toContain('<strong class="phone">+442079460958</strong>');
    expect(page.html).toContain('value="+442079460958"');
  });

  it('O150 Arabic digits are digits', async () => {
    const page = await ask(app(), client, '+١٤١٥٥٥٥٢٦٧١');
    expect(page.html).toContain('value="+14155552671"');
  });

  it('O54 An unknown phone gets the same page as a known one, and no message', async () => {
    const user = await app().addUser({ phone: '+14155558877' });
    const known = await ask(app(), client, user.phone);
    const unknown = await ask(app(), client, '+14155559977');
    expectPage(unknown, known.status);
    const plain = ({ html }: Page): string =>
      html
        .replaceAll(/name="(transaction|token)" value="[^"]*"/g, '')
        .replaceAll(/\+1415555\d{4}/g, '');
    expect(plain(unknown)).toBe(plain(known));
    expect(await messagesTo(app(), client, '+14155559977')).toBe(0);
  });

  it('O54 No code signs an unknown phone in', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: '+14155559976' });
    for (const code of ['000000', '123456', '999999'])
      expectPage(await visitor.submit(page, VERIFY, { code }), 400);
  });

  it('O54 A blocked user gets the same page and no message', async () => {
    const user = await app().addUser();
    await app().dataSource.query(`UPDATE users SET status = 'blocked' WHERE id = '${user.id}'`);
    expectPage(await ask(app(), client, user.phone), 200);
    expect(await messagesTo(app(), client, user.phone)).toBe(0);
  });

  it('Two numbers sent at once for one request end in one open code and no fault', async () => {
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    const users = await Promise.all(Array.from({ length: 10 }, () => app().addUser()));
    const answers = await Promise.all(
      users.map(({ phone }) => visitor.submit(page, SIGN_IN, { phone })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
  });
});

onOneEngine('Asking for messages again and again', (database) => {
  const app = useTestApp(database, {
    OTP_RESEND_SECONDS: '60',
    OTP_PHONE_HOURLY: '5',
    OTP_PHONE_DAILY: '10',
    OTP_ADDRESS_HOURLY: '200',
  });
  let client: TestClient;
  let user: User;

  beforeEach(async () => {
    app().clock.advance(25 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
  });

  function sent(): number {
    return app().sms.messages.filter(({ to }) => to === user.phone).length;
  }

  it('O49 Within 60 seconds it is 429, sends nothing, and the earlier code still works', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: user.phone });
    const code = await app().sms.password(user.phone);
    app().clock.advance(59_000);
    const again = await visitor.submit(page, SIGN_IN);
    expectPage(again, 429);
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(61);
    expect(await messagesTo(app(), client, user.phone)).toBe(1);
    const done = await visitor.submit(again, VERIFY, { code });
    expect(done.html).toContain('name="decision"');
  });

  it('O49 After the time that Retry-After tells, a new message is sent', async () => {
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: user.phone });
    await app().sms.password(user.phone);
    const again = await visitor.submit(page, SIGN_IN);
    app().clock.advance(Number(again.headers.get('retry-after')) * 1000);
    expectPage(await visitor.submit(page, SIGN_IN), 200);
    await expect.poll(sent).toBe(2);
  });

  it('O51 A hundred requests at once for one phone send one message', async () => {
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => visitor.submit(page, SIGN_IN, { phone: user.phone })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) expectPage(answer, answer.status === 200 ? 200 : 429);
    expect(await messagesTo(app(), client, user.phone)).toBe(1);
  });

  it('O52 One phone gets five messages an hour and ten a day', async () => {
    const statuses: number[] = [];
    for (let minute = 0; minute < 8; minute += 1) {
      statuses.push((await ask(app(), client, user.phone)).status);
      app().clock.advance(2 * MINUTE);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    app().clock.advance(HOUR);
    statuses.length = 0;
    for (let hour = 0; hour < 7; hour += 1) {
      statuses.push((await ask(app(), client, user.phone)).status);
      app().clock.advance(HOUR);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  it('O53 However a number is written, it is one budget', async () => {
    const national = user.phone.slice(2);
    expectPage(await ask(app(), client, user.phone), 200);
    for (const typed of [`001${national}`, `+1 ${national}`, `+1-${national}`])
      expectPage(await ask(app(), client, typed), 429);
  });
});

onOneEngine('Messages asked for from one address', (database) => {
  const app = useTestApp(database, { OTP_ADDRESS_HOURLY: '20' });

  it('O52 Twenty an hour are sent, for whatever phones and whatever X-Forwarded-For says', async () => {
    const client = await app().addClient();
    const statuses: number[] = [];
    for (let each = 0; each < 22; each += 1) {
      const page = await askFrom(app(), client, `203.0.113.${each}`, `+1415555${2000 + each}`);
      statuses.push(page.status);
    }
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429, 429]);
  });
});

onOneEngine('Messages asked for from one IPv6 network', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1', OTP_ADDRESS_HOURLY: '20' });

  it('O52 Twenty an hour are sent to the /64 of one subscriber, and the next network has its own', async () => {
    const client = await app().addClient();
    for (let each = 1; each <= 20; each += 1)
      expectPage(
        await askFrom(app(), client, `2001:db8:1:2::${each}`, `+1415555${2100 + each}`),
        200,
      );
    expectPage(await askFrom(app(), client, '2001:db8:1:2:ffff::1', '+14155552121'), 429);
    expectPage(await askFrom(app(), client, '2001:db8:1:3::1', '+14155552122'), 200);
  });
});

onOneEngine(
  'What an answer takes, for a phone that somebody has and one that nobody has',
  (database) => {
    const app = useTestApp(database, {
      OTP_RESEND_SECONDS: '60',
      OTP_PHONE_HOURLY: '5',
      OTP_PHONE_DAILY: '10',
      OTP_ADDRESS_HOURLY: '200',
      OTP_DAILY_TOTAL: '100',
      // Shorter than the first pause of the queue, which nothing waits for then.
      OTP_SECONDS: '1',
    });
    let client: TestClient;

    beforeAll(async () => {
      client = await app().addClient();
    });

    it('O54 The page does not wait for the gateway', async () => {
      const user = await app().addUser();
      const release = app().sms.hold();
      try {
        const answer = ask(app(), client, user.phone).then(({ status }) => status);
        expect(await Promise.race([answer, sleep(10_000, 'no answer')])).toBe(200);
        expect(app().sms.messages).toEqual([]);
      } finally {
        release();
      }
      await app().sms.password(user.phone);
    });

    it('O54 The statements for nobody are the first ones of those for a user', async () => {
      const statementsFor = async (phone: string): Promise<string[]> => {
        const visitor = new Browser(app());
        const page = await visitor.open(authorizeLink(client));
        return app().statementsOf(async () => {
          expectPage(await visitor.submit(page, SIGN_IN, { phone }), 200);
          await app().service(SmsQueue).idle();
        });
      };
      // Whoever is first at this address makes its row.
      await statementsFor('+14155559974');
      const unknown = await statementsFor('+14155559975');
      const known = await statementsFor((await app().addUser()).phone);
      expect(unknown).not.toEqual([]);
      expect(known.slice(0, unknown.length)).toEqual(unknown);
      // What is left is the message: that it is one of the day's, which only the queue writes down.
      const message = known.slice(unknown.length).filter((statement) => /[`"]/.test(statement));
      expect(message).not.toEqual([]);
      for (const statement of message) expect(statement).toMatch(/[`"]throttle_/);
    });
  },
);

onOneEngine('National phone numbers', (database) => {
  const app = useTestApp(database, { OTP_DEFAULT_COUNTRY: 'US' });

  it('O53 They belong to OTP_DEFAULT_COUNTRY', async () => {
    const page = await ask(app(), await app().addClient(), '(415) 555-2671');
    expect(page.html).toContain('value="+14155552671"');
  });
});
