import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { DataSource } from 'typeorm';
import { sha256 } from '../../src/platform/secrets.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { RateLimitHit } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { connect, onEachEngine, onEachServer, onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import { TestApp, type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, submitPhone, withoutSecrets } from '../support/sign-in.js';

const DAY = 24 * 3_600_000;
/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61_000;
/** Longer than `DB_TIMEOUT_MS` rounded up to seconds. */
const LOCK_MS = 1200;

const requestCode = (app: TestApp, client: TestClient, phone: string): Promise<Page> =>
  submitPhone(new Browser(app), authorizeLink(client), phone);

async function failuresOf(dataSource: DataSource, user: UserWithPhone): Promise<number> {
  const trail = await auditTrail(dataSource, user.id);
  return trail.filter(({ action }) => action === 'otp.send_failed').length;
}

onEachServer('Delivery of one-time passwords: database lock', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });

  it('O58 sends the message after the lock is released and counts it once', async () => {
    const first = await app().addUser();
    const client = await app().addClient();
    expectPage(await requestCode(app(), client, first.phone), 200);
    await app().sms.password(first.phone);
    // The key of the limit of all messages of a day, whose row is locked below.
    const hash = sha256('otp-daily-total|');
    const { manager } = app().dataSource;
    const countMessages = (): Promise<number | null> => manager.sum(RateLimitHit, 'hits', { hash });
    const before = (await countMessages()) ?? 0;
    const user = await app().addUser();
    const holder = await mysql.createConnection(database.url);
    try {
      // Without gap locks, which would also block the rows of other limits.
      await holder.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
      await holder.beginTransaction();
      await holder.query('SELECT hash FROM throttle_hits WHERE hash = ? FOR UPDATE', [hash]);
      expectPage(await requestCode(app(), client, user.phone), 200);
      await sleep(LOCK_MS);
      expect(app().sms.count(user.phone)).toBe(0);
    } finally {
      holder.destroy();
    }
    expect(await app().sms.password(user.phone)).toMatch(/^\d{6}$/);
    expect(await countMessages()).toBe(before + 1);
    expect(await failuresOf(app().dataSource, user)).toBe(0);
  });
});

onOneEngine('Delivery of one-time passwords: without retries', (database) => {
  // The password expires before the service would send a failed message again.
  const app = useTestApp(database, { OTP_SECONDS: '1', OTP_DAILY_TOTAL: '3' });
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    app().sms.refuse(0);
    client = await app().addClient();
  });

  /** Makes the gateway fail, and waits until the service has recorded a failed message. Returns the user whose message failed. */
  async function startOutage(): Promise<UserWithPhone> {
    const user = await app().addUser();
    app().sms.refuse();
    expectPage(await requestCode(app(), client, user.phone), 200);
    await expect.poll(() => failuresOf(app().dataSource, user)).toBe(1);
    return user;
  }

  it('O58 applies the same limits to a phone with and without a user, even if messages fail', async () => {
    const user = await startOutage();
    const known = await requestCode(app(), client, user.phone);
    expectPage(known, 429);
    const stranger = '+14155559911';
    expectPage(await requestCode(app(), client, stranger), 200);
    const unknown = await requestCode(app(), client, stranger);
    expect(withoutSecrets(unknown, stranger)).toBe(withoutSecrets(known, user.phone));
    app().clock.advance(MESSAGE_PAUSE);
    app().sms.refuse(0);
    expectPage(await requestCode(app(), client, user.phone), 200);
    await app().sms.password(user.phone);
  });

  it('O58 shows the same page during an outage', async () => {
    const { phone } = await app().addUser();
    const healthy = await requestCode(app(), client, phone);
    expectPage(healthy, 200);
    await app().sms.password(phone);
    app().sms.refuse();
    for (let message = 1; message <= 2; message += 1) {
      const user = await app().addUser();
      const page = await requestCode(app(), client, user.phone);
      expect(withoutSecrets(page, user.phone)).toBe(withoutSecrets(healthy, phone));
      await expect.poll(() => failuresOf(app().dataSource, user)).toBe(1);
    }
  });

  it('O58 records an audit event without phone and code, and no attempt at the code, when a message fails', async () => {
    const user = await startOutage();
    const trail = await auditTrail(app().dataSource, user.id);
    expect(trail.filter(({ action }) => action === 'otp.send_failed')).toEqual([
      { action: 'otp.send_failed', actor: 'service', reason: null, details: {} },
    ]);
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const open = await challenges.findBy({ phone: user.phone });
    expect(open.map(({ attempts }) => attempts)).toEqual([0]);
  });

  it('O58 does not count failed messages in the daily limit', async () => {
    const user = await startOutage();
    for (let failures = 2; failures <= 5; failures += 1) {
      app().clock.advance(MESSAGE_PAUSE);
      await requestCode(app(), client, user.phone);
      await expect.poll(() => failuresOf(app().dataSource, user)).toBe(failures);
    }
    app().sms.refuse(0);
    for (let each = 0; each < 3; each += 1) {
      const { phone } = await app().addUser();
      expectPage(await requestCode(app(), client, phone), 200);
      await app().sms.password(phone);
    }
    expectPage(await requestCode(app(), client, (await app().addUser()).phone), 429);
  });

  it('O54 sends the page without waiting for the gateway', async () => {
    const { phone } = await app().addUser();
    const release = app().sms.hold();
    try {
      const response = requestCode(app(), client, phone).then(({ status }) => status);
      expect(await Promise.race([response, sleep(10_000, 'no response')])).toBe(200);
      expect(app().sms.count(phone)).toBe(0);
    } finally {
      release();
    }
    await app().sms.password(phone);
  });
});

onOneEngine('Delivery of one-time passwords: shutdown', (database) => {
  it('O58 records that the last retry failed before the service closes the database', async () => {
    const app = await TestApp.start(database);
    const user = await app.addUser();
    app.sms.refuse(2);
    await requestCode(app, await app.addClient(), user.phone);
    await expect.poll(() => app.sms.refused).toHaveLength(1);
    await app.stop();
    expect(app.sms.messages).toEqual([]);
    expect(app.sms.refused).toHaveLength(2);
    const dataSource = await connect(database.url);
    expect(await failuresOf(dataSource, user)).toBe(1);
    await dataSource.destroy();
  });
});

onEachEngine('Requests for a one-time password of a stranger', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  beforeAll(async () => {
    client = await app().addClient();
  });

  it('O54 runs the same statements for a phone without a user', async () => {
    const statementsFor = async (phone: string): Promise<string[]> => {
      const visitor = new Browser(app());
      const page = await visitor.open(authorizeLink(client));
      return app().statementsOf(async () => {
        const { location } = await visitor.submit(page, SIGN_IN, { phone }, { follow: false });
        expect(location).toMatch(/\/code$/);
        await app().service(SmsQueue).idle();
      });
    };
    // The first request of an address adds the row of its message limit.
    await statementsFor('+14155559974');
    await statementsFor((await app().addUser()).phone);
    const unknown = await statementsFor('+14155559975');
    const known = await statementsFor((await app().addUser()).phone);
    expect(unknown).not.toEqual([]);
    expect(known).toEqual(unknown);
  });
});
