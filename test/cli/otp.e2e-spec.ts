import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { expectConsentPage, submitPhone, VERIFY } from '../support/sign-in.js';
import type { TestClient } from '../support/test-app.js';

const PAUSED = 'We are not sending codes at the moment.';

onOneEngine('Command "otp report"', (database) => {
  const { app, cli } = useCommands(database);

  it('counts requested one-time passwords by country, app and result', async () => {
    const none = await cli.run('otp', 'report');
    expect(none.stdout).toBe('No one-time passwords were requested.\n');
    const client = await app().addClient();
    const link = authorizeLink(client);
    const users = [
      await app().addUser(),
      await app().addUser(),
      await app().addUser({ phone: '+34612345678' }),
    ];
    const [first, second, third] = users as [UserWithPhone, UserWithPhone, UserWithPhone];
    expectConsentPage(await new Browser(app()).signIn(link, first));
    await new Browser(app()).signInToAccount(second);
    await submitPhone(new Browser(app()), link, third.phone);
    await submitPhone(new Browser(app()), link, '+34612345679');
    await app().service(SmsQueue).idle();
    const nothing = { sent: 0, failed: 0, no_account: 0, signed_in: 0 };
    expect(await cli.json('otp', 'report', '--since', '1h')).toEqual([
      { ...nothing, country: 'US', sent: 2, signed_in: 2 },
      { ...nothing, country: 'ES', sent: 1, no_account: 1 },
    ]);
    expect(await cli.json('otp', 'report', '--by', 'app')).toEqual([
      { ...nothing, client_id: client.clientId, sent: 2, no_account: 1, signed_in: 1 },
      { ...nothing, client_id: null, sent: 1, signed_in: 1 },
    ]);
    expect(await cli.json('otp', 'report', '--by', 'result')).toEqual([
      { result: 'sent', total: 3 },
      { result: 'failed', total: 0 },
      { result: 'no_account', total: 1 },
      { result: 'signed_in', total: 2 },
    ]);
    const { stdout } = await cli.run('otp', 'report');
    expect(stdout).toMatch(/^COUNTRY +SENT +FAILED +NO_ACCOUNT +SIGNED_IN\nUS +2 +0 +0 +2\nES /);
    const later = new Date(app().clock.now().getTime() + 3_600_000).toISOString();
    expect(await cli.json('otp', 'report', '--since', `${later.slice(0, 16)}Z`)).toEqual([]);
  });

  it('rejects another group', async () => {
    const { code, stderr } = await cli.run('otp', 'report', '--by', 'phone');
    expect(code).toBe(2);
    expect(stderr).toContain('country, app, result');
  });
});

onOneEngine('Result of a message that the gateway rejects', (database) => {
  // The password expires before the service would send the message again.
  const { app, read } = useMetricsApp(database, { OTP_SECONDS: '1' });

  it('counts it as failed, in the report and by calling code', async () => {
    const link = authorizeLink(await app().addClient());
    const { phone } = await app().addUser({ phone: '+34612345678' });
    app().sms.refuse();
    await submitPhone(new Browser(app()), link, phone);
    await submitPhone(new Browser(app()), link, '+34612345679');
    await app().service(SmsQueue).idle();
    const rows = await app().dataSource.query<{ result: string; total: number }[]>(
      'SELECT result, total FROM otp_counts ORDER BY result',
    );
    expect(rows.map(({ result, total }) => [result, total])).toEqual([
      ['failed', 1],
      ['no_account', 1],
      ['sent', 0],
    ]);
    app().sms.refuse(0);
    await submitPhone(new Browser(app()), link, (await app().addUser()).phone);
    await app().service(SmsQueue).idle();
    const count = (calling_code: string, result: string) =>
      read('otp_requests_total', { calling_code, result });
    expect(await count('34', 'failed')).toBe(1);
    expect(await count('34', 'no_account')).toBe(1);
    expect(await count('1', 'sent')).toBe(1);
  });
});

onOneEngine('Commands "otp pause" and "otp resume"', (database) => {
  const { app, cli } = useCommands(database);
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    app().sms.messages.length = 0;
  });

  const requestCode = (phone: string, visitor = new Browser(app())): Promise<Page> =>
    submitPhone(visitor, authorizeLink(client), phone);

  it('stop and start all messages at once, which the sign-in page says, for any phone', async () => {
    const visitor = new Browser(app());
    const earlier = await requestCode(user.phone, visitor);
    const code = await app().sms.password(user.phone);
    const member = await app().addUser();
    const reason = ['--reason', 'Messages to +882'];
    expect(await cli.json('otp', 'pause', ...reason)).toEqual({ paused: true, changed: true });
    expect((await new Browser(app()).open(authorizeLink(client))).html).toContain(PAUSED);
    const anonymous = new Browser(app());
    const accountPage = await anonymous.open('/account/apps');
    const { phone: accountPhone } = member;
    const answer = await anonymous.submit(accountPage, '/account/sign-in', { phone: accountPhone });
    expectPage(answer, 503);
    expect(answer.html).toContain(PAUSED);
    for (const phone of [member.phone, '+14155559951']) {
      const page = await requestCode(phone);
      expectPage(page, 503);
      expect(page.html).toContain(PAUSED);
      expect(page.html).toContain('name="phone"');
    }
    await app().service(SmsQueue).idle();
    expect(app().sms.count(member.phone)).toBe(0);
    // A code that was sent before still works.
    expectConsentPage(await visitor.submit(earlier, VERIFY, { code }));

    expect((await cli.run('otp', 'pause')).stdout).toContain('already paused');
    const findings = await cli.json<{ check: string; status: string }[]>('doctor');
    expect(JSON.stringify(findings)).toContain('One-time passwords are paused');

    const resumed = await cli.json('otp', 'resume', '--reason', 'Countries set');
    expect(resumed).toEqual({ paused: false, changed: true });
    expect((await new Browser(app()).open(authorizeLink(client))).html).not.toContain(PAUSED);
    expectPage(await requestCode(member.phone), 200);
    expect(await app().sms.password(member.phone)).toMatch(/^\d{6}$/);
    expect((await cli.run('otp', 'resume')).stdout).toContain('not paused');

    const { manager } = app().dataSource;
    const events = await manager.find(AuditEvent, { where: { subject: 'otp' } });
    expect(events.map(({ action, reason: why }) => [action, why]).toSorted()).toEqual([
      ['otp.paused', 'Messages to +882'],
      ['otp.resumed', 'Countries set'],
    ]);
  });

  it('stop messages that wait for a retry', async () => {
    app().sms.refuse(1);
    await requestCode(user.phone);
    await expect.poll(() => app().sms.refused.length).toBeGreaterThan(0);
    await cli.run('otp', 'pause');
    await app().service(SmsQueue).idle();
    expect(app().sms.count(user.phone)).toBe(0);
    await cli.run('otp', 'resume');
  });
});
