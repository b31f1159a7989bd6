import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { HOUR, SECOND } from '../../src/platform/clock.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { CommandLine } from '../support/command-line.js';
import { onEachEngine, onOneEngine } from '../support/database.js';
import { authorizeLink, requestToken } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { submitPhone, VERIFY, wrongCode } from '../support/sign-in.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61 * SECOND;
const ADDRESS = '203.0.113.7';
const OTHER_ADDRESS = '203.0.113.8';
/** A phone number without a user. */
const UNKNOWN_PHONE = '+14155559941';

onOneEngine('Audit log of sign-ins', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1' });
  const cli = new CommandLine(database);
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    app().clock.advance(2 * HOUR);
    app().sms.messages.length = 0;
    client = await app().addClient();
    user = await app().addUser();
  });

  const browserAt = (address: string): Browser =>
    new Browser(app(), { 'x-forwarded-for': address });

  async function events(action: AuditEvent['action']): Promise<AuditEvent[]> {
    await app().service(SmsQueue).idle();
    const order = { at: 'ASC' } as const;
    const found = await app().dataSource.manager.find(AuditEvent, { where: { action }, order });
    return found.filter(({ at }) => at >= new Date(app().clock.now().getTime() - HOUR));
  }

  async function requestCode(visitor: Browser, phone = user.phone): Promise<Page> {
    app().clock.advance(MESSAGE_PAUSE);
    return submitPhone(visitor, authorizeLink(client), phone);
  }

  it('O144 records who signed in, for which app, from which address and request, and whether the device is new', async () => {
    const visitor = browserAt(ADDRESS);
    for (const device of ['new', 'trusted']) {
      app().sms.messages.length = 0;
      const page = await requestCode(visitor);
      const code = await app().sms.password(user.phone);
      const { headers } = await visitor.submit(page, VERIFY, { code }, { follow: false });
      const expected = { userId: user.id, clientId: client.clientId, address: ADDRESS };
      const details = { clientId: client.clientId, device };
      const signIn = { ...expected, details, requestId: headers.get('x-request-id') };
      expect((await events('user.signed_in')).at(-1)).toMatchObject({ ...signIn, actor: user.id });
      const requested = (await events('otp.requested')).at(-1);
      expect(requested).toMatchObject({ ...expected, details, actor: 'service' });
      expect(requested?.requestId).toMatch(/^req_/);
      const shown = await cli.run('request', 'show', signIn.requestId ?? '');
      expect(shown.stdout).toContain('user.signed_in');
      visitor.cookies.delete('session');
    }
  });

  it('O144 records a sign-in to the account pages without an app', async () => {
    await browserAt(ADDRESS).signInToAccount(user);
    expect((await events('user.signed_in')).at(-1)).toMatchObject({
      userId: user.id,
      clientId: null,
      details: { device: 'new' },
    });
  });

  it('O144 records wrong codes for a member once an hour for each address, without phone and code', async () => {
    const sendWrongCodes = async (address: string): Promise<void> => {
      const visitor = browserAt(address);
      const page = await requestCode(visitor);
      const code = await app().sms.password(user.phone);
      for (const offset of [1, 2])
        expectPage(await visitor.submit(page, VERIFY, { code: wrongCode(code, offset) }), 400);
    };
    for (const address of [ADDRESS, ADDRESS, OTHER_ADDRESS]) await sendWrongCodes(address);
    const failed = await events('otp.failed');
    expect(failed.map(({ address }) => address)).toEqual([ADDRESS, OTHER_ADDRESS]);
    for (const event of failed) {
      const details = { clientId: client.clientId, device: 'new' };
      expect(event).toMatchObject({ userId: user.id, details, actor: 'service' });
      expect(event.requestId).toMatch(/^req_/);
      expect(JSON.stringify(event)).not.toContain(user.phone.slice(1));
    }
    app().clock.advance(2 * HOUR);
    await sendWrongCodes(ADDRESS);
    expect(await events('otp.failed')).toHaveLength(1);
  });

  it('O144 records nothing about a phone without a user', async () => {
    const before = await app().dataSource.manager.count(AuditEvent);
    const visitor = browserAt(ADDRESS);
    const page = await requestCode(visitor, UNKNOWN_PHONE);
    expectPage(await visitor.submit(page, VERIFY, { code: '123456' }), 400);
    await app().service(SmsQueue).idle();
    expect(await app().dataSource.manager.count(AuditEvent)).toBe(before);
  });

  it('O144 records failed client authentications once an hour for each app and address, without the secret', async () => {
    const wrong = { client_secret: `svc_sec_${'x'.repeat(43)}`, grant_type: 'refresh_token' };
    const fail = async (form: Record<string, string>, address: string): Promise<string | null> => {
      const headers = { 'x-forwarded-for': address };
      const response = await requestToken(app(), client, { ...wrong, ...form }, headers);
      expect(response.status).toBe(401);
      return response.headers.get('x-request-id');
    };
    const requestId = await fail({}, ADDRESS);
    for (let each = 0; each < 12; each += 1) await fail({}, ADDRESS);
    await fail({}, OTHER_ADDRESS);
    const failed = await events('client.authentication_failed');
    const expected = { subject: client.clientId, clientId: client.clientId, actor: 'service' };
    expect(failed).toHaveLength(2);
    const details = expect.objectContaining({ endpoint: 'token' }) as object;
    // Events of the same millisecond have no order.
    for (const from of [{ address: ADDRESS, requestId }, { address: OTHER_ADDRESS }])
      expect(failed).toContainEqual(expect.objectContaining({ ...expected, details, ...from }));
    expect(JSON.stringify(failed)).not.toContain(wrong.client_secret);
    const listed = await cli.json('audit', 'list', '--app', client.clientId, '--limit', 'all');
    expect(JSON.stringify(listed)).toContain('client.authentication_failed');
  });

  it('O144 records failures of all unknown apps as one', async () => {
    for (const last of ['p', 'q', 'r']) {
      const client_id = `svc_app_01jdx8m3wze5cr4w0hg3k7n2q${last}`;
      const headers = { 'x-forwarded-for': ADDRESS };
      await requestToken(app(), client, { client_id, grant_type: 'refresh_token' }, headers);
    }
    const failed = await events('client.authentication_failed');
    expect(failed.map(({ subject }) => subject)).toEqual(['unknown app']);
  });
});

onEachEngine('Wrong codes of a stranger', (database) => {
  const app = useTestApp(database);

  it('O54 runs the same statements for a phone without a user', async () => {
    const client = await app().addClient();
    const statementsFor = async (phone: string): Promise<string[]> => {
      const visitor = new Browser(app());
      const page = await submitPhone(visitor, authorizeLink(client), phone);
      await app().service(SmsQueue).idle();
      return app().statementsOf(() => visitor.submit(page, VERIFY, { code: '000000' }));
    };
    // The first wrong codes add the rows of limits.
    await statementsFor('+14155559942');
    await statementsFor((await app().addUser()).phone);
    const unknown = await statementsFor(UNKNOWN_PHONE);
    const known = await statementsFor((await app().addUser()).phone);
    expect(unknown).not.toEqual([]);
    expect(known).toEqual(unknown);
  });
});
