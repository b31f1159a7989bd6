import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { DataSource } from 'typeorm';
import { sha256 } from '../../src/common/secrets.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { connect, onOneEngine, onEachServer } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import { TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const DAY = 24 * 3_600_000;
/** Longer than anybody waits for a lock. */
const HELD_MS = 1500;

const BUDGETS = {
  OTP_RESEND_SECONDS: '60',
  OTP_PHONE_HOURLY: '5',
  OTP_PHONE_DAILY: '10',
  OTP_ADDRESS_HOURLY: '200',
  OTP_DAILY_TOTAL: '3',
};

function plain({ status, html }: Page): string {
  return `${status} ${html}`
    .replaceAll(/name="(transaction|token)" value="[^"]*"/g, '')
    .replaceAll(/\+1415555\d{4}/g, '');
}

async function ask(app: TestApp, client: TestClient, phone: string): Promise<Page> {
  const visitor = new Browser(app);
  return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
}

async function failuresOf(dataSource: DataSource, user: User): Promise<number> {
  const trail = await auditTrail(dataSource, user.id);
  return trail.filter(({ action }) => action === 'otp.send_failed').length;
}

onOneEngine('A gateway that fails for a moment', (database) => {
  const app = useTestApp(database);

  it('O58 The message arrives a little later, by another try with the same id', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(await app().addClient()));
    app().sms.refuse(1);
    const page = await visitor.submit(phonePage, SIGN_IN, { phone: user.phone });
    expectPage(page, 200);
    await expect.poll(() => app().sms.messages, { timeout: 5000 }).toHaveLength(1);
    expect(app().sms.messages).toEqual(app().sms.refused);
    const [message] = app().sms.messages;
    expect(message?.id).toMatch(/^[0-9a-f-]{36}$/);
    const done = await visitor.submit(page, VERIFY, { code: await app().sms.password(user.phone) });
    expect(done.html).toContain('name="decision"');
    expect(await failuresOf(app().dataSource, user)).toBe(0);
  });
});

onEachServer('A database that cannot tell for a moment whether a message may go', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000', OTP_DAILY_TOTAL: '1000' });

  it('O58 The message arrives a little later, and is counted once', async () => {
    const first = await app().addUser();
    const client = await app().addClient();
    expectPage(await ask(app(), client, first.phone), 200);
    await app().sms.password(first.phone);
    const hash = sha256('otp-daily-total|');
    const { manager } = app().dataSource;
    const counted = (): Promise<number | null> => manager.sum(ThrottleHit, 'hits', { hash });
    const before = (await counted()) ?? 0;
    const user = await app().addUser();
    const holder = await mysql.createConnection(database.url);
    try {
      await holder.beginTransaction();
      await holder.query('SELECT hash FROM throttle_hits WHERE hash = ? FOR UPDATE', [hash]);
      expectPage(await ask(app(), client, user.phone), 200);
      await sleep(HELD_MS);
      expect(app().sms.count(user.phone)).toBe(0);
    } finally {
      holder.destroy();
    }
    expect(await app().sms.password(user.phone)).toMatch(/^\d{6}$/);
    expect(await counted()).toBe(before + 1);
    expect(await failuresOf(app().dataSource, user)).toBe(0);
  });
});

onOneEngine('A gateway that fails for good', (database) => {
  // Shorter than the first pause between tries, so that the first one is the last.
  const app = useTestApp(database, { ...BUDGETS, OTP_SECONDS: '1' });
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    app().sms.refuse(0);
    client = await app().addClient();
  });

  /** The gateway fails, and the service knows it. */
  async function outage(): Promise<User> {
    const user = await app().addUser();
    app().sms.refuse();
    expectPage(await ask(app(), client, user.phone), 200);
    await expect.poll(() => failuresOf(app().dataSource, user)).toBe(1);
    return user;
  }

  it('O58 The user may ask again at once, as often as they like, until a message arrives', async () => {
    const user = await outage();
    for (let time = 2; time <= 12; time += 1) {
      expectPage(await ask(app(), client, user.phone), 200);
      await expect.poll(() => failuresOf(app().dataSource, user)).toBe(time);
    }
    app().sms.refuse(0);
    expectPage(await ask(app(), client, user.phone), 200);
    await app().sms.password(user.phone);
    expectPage(await ask(app(), client, user.phone), 429);
  });

  it('O58 The page is the one that is shown while messages arrive', async () => {
    const before = await app().addUser();
    const healthy = await ask(app(), client, before.phone);
    expectPage(healthy, 200);
    await app().sms.password(before.phone);
    app().sms.refuse();
    for (let time = 1; time <= 2; time += 1) {
      const user = await app().addUser();
      expect(plain(await ask(app(), client, user.phone))).toBe(plain(healthy));
      await expect.poll(() => failuresOf(app().dataSource, user)).toBe(1);
    }
  });

  it('O58 It is told to the audit log, with neither phone nor code', async () => {
    const user = await outage();
    const trail = await auditTrail(app().dataSource, user.id);
    expect(trail.filter(({ action }) => action === 'otp.send_failed')).toEqual([
      { action: 'otp.send_failed', actor: 'service', reason: null, details: {} },
    ]);
  });

  it('O58 No guess at the password is spent', async () => {
    const user = await outage();
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const open = await challenges.findBy({ phone: user.phone });
    expect(open.map(({ attempts }) => attempts)).toEqual([0]);
  });

  it('O58 The messages of the day and of the address are not spent', async () => {
    const user = await outage();
    for (let time = 2; time <= 5; time += 1) {
      await ask(app(), client, user.phone);
      await expect.poll(() => failuresOf(app().dataSource, user)).toBe(time);
    }
    app().sms.refuse(0);
    for (let each = 0; each < 3; each += 1) {
      const { phone } = await app().addUser();
      expectPage(await ask(app(), client, phone), 200);
      await app().sms.password(phone);
    }
    expectPage(await ask(app(), client, (await app().addUser()).phone), 429);
  });

  it('O58 A phone that nobody has may be asked for again just the same, with the same page', async () => {
    const user = await outage();
    const known = await ask(app(), client, user.phone);
    for (let time = 1; time <= 12; time += 1)
      await expect
        .poll(async () => plain(await ask(app(), client, '+14155559911')))
        .toBe(plain(known));
  });

  it('O58 While messages arrive, a phone that nobody has must wait as everybody must', async () => {
    const user = await outage();
    app().sms.refuse(0);
    expectPage(await ask(app(), client, user.phone), 200);
    await app().sms.password(user.phone);
    expectPage(await ask(app(), client, '+14155559912'), 200);
    await sleep(100);
    const unknown = await ask(app(), client, '+14155559912');
    expect(plain(unknown)).toBe(plain(await ask(app(), client, user.phone)));
    expectPage(unknown, 429);
  });
});

onOneEngine('A service that ends while a message waits for its next try', (database) => {
  let dataSource: DataSource | undefined;
  afterAll(() => dataSource?.destroy());

  async function endWhileWaiting(refusals: number): Promise<{ app: TestApp; user: User }> {
    const app = await TestApp.start(database, BUDGETS);
    const user = await app.addUser({ phone: `+1415555700${refusals}` });
    app.sms.refuse(refusals);
    await ask(app, await app.addClient(), user.phone);
    await expect.poll(() => app.sms.refused).toHaveLength(1);
    await app.stop();
    return { app, user };
  }

  it('O58 The message is tried once more at the end', async () => {
    const started = performance.now();
    const { app } = await endWhileWaiting(1);
    expect(app.sms.messages).toEqual(app.sms.refused);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('O58 What fails even then is written down before the database is left', async () => {
    const { app, user } = await endWhileWaiting(2);
    expect({ tries: app.sms.refused.length, sent: app.sms.messages }).toEqual({
      tries: 2,
      sent: [],
    });
    dataSource = await connect(database.url);
    expect(await failuresOf(dataSource, user)).toBe(1);
  });
});
