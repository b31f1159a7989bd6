import type { ServerResponse } from 'node:http';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { AuditEntry } from '../support/logs.js';
import { auditTrail } from '../support/logs.js';
import { Browser } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { RecordingServer } from '../support/recording-server.js';
import { expectPage } from '../support/responses.js';
import { expectConsentPage, submitPhone, VERIFY } from '../support/sign-in.js';
import { TestApp, type TestClient } from '../support/test-app.js';

onOneEngine('Text messages by Twilio', (database) => {
  let twilio: RecordingServer;
  let respond: (response: ServerResponse) => void;
  let app: TestApp;
  let client: TestClient;

  const json =
    (status: number, body: object, headers: Record<string, string> = {}) =>
    (response: ServerResponse): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    };
  const queued = json(201, { sid: 'SM1', status: 'queued', error_code: null });

  beforeAll(async () => {
    twilio = await RecordingServer.open({ respond: (response) => respond(response) });
    app = await TestApp.start(database, {
      SMS_SENDER: 'twilio',
      TWILIO_API_URL: twilio.url,
      TWILIO_ACCOUNT_SID: 'AC1',
      TWILIO_API_KEY: 'SK1',
      TWILIO_API_SECRET: 'secret',
      TWILIO_FROM: 'MGBank',
    });
    client = await app.addClient();
  });
  afterAll(async () => {
    await app?.stop();
    await twilio?.close();
  });
  beforeEach(() => {
    twilio.requests.length = 0;
  });

  const forms = (): URLSearchParams[] =>
    twilio.requests.map(({ body }) => new URLSearchParams(body.toString()));

  async function valueOf(metric: string, labels: Record<string, string> = {}): Promise<number> {
    const found = app.service(Metrics).registry.getSingleMetric(metric);
    const { values = [] } = (await found?.get()) ?? {};
    const wanted = Object.entries(labels);
    const match = values.find((one) => wanted.every(([name, value]) => one.labels[name] === value));
    return match?.value ?? 0;
  }

  /** Requests a code while Twilio responds so, and waits for the end of all attempts. Returns the failure in the audit log. */
  async function failWith(answer: typeof respond): Promise<AuditEntry[]> {
    respond = answer;
    const user = await app.addUser();
    expectPage(await submitPhone(new Browser(app), authorizeLink(client), user.phone), 200);
    await app.service(SmsQueue).idle();
    const trail = await auditTrail(app.dataSource, user.id);
    return trail.filter(({ action }) => action === 'otp.send_failed');
  }

  it('sends a code that signs in, with the lifetime of the code and the credentials of the API key', async () => {
    respond = queued;
    const visitor = new Browser(app);
    const user = await app.addUser();
    const page = await submitPhone(visitor, authorizeLink(client), user.phone);
    await app.service(SmsQueue).idle();
    const [form] = forms();
    expect(form?.get('To')).toBe(user.phone);
    expect(form?.get('From')).toBe('MGBank');
    expect(form?.get('ValidityPeriod')).toBe('300');
    expect(twilio.requests[0]?.path).toBe('/2010-04-01/Accounts/AC1/Messages.json');
    expect(twilio.requests[0]?.headers.authorization).toBe(`Basic ${btoa('SK1:secret')}`);
    const code = /\b\d{6}\b/.exec(form?.get('Body') ?? '')?.[0] ?? '';
    expectConsentPage(await visitor.submit(page, VERIFY, { code }));
  });

  it.each([
    ['21610', json(400, { code: 21610, message: 'opted out' }), { status: 400, code: 21610 }],
    ['21211', json(400, { code: 21211, message: 'invalid' }), { status: 400, code: 21211 }],
    ['21408', json(400, { code: 21408, message: 'region' }), { status: 400, code: 21408 }],
    ['21635', json(400, { code: 21635, message: 'landline' }), { status: 400, code: 21635 }],
    ['63038', json(429, { code: 63038, message: 'limit' }), { status: 429, code: 63038 }],
    ['30007', json(201, { status: 'failed', error_code: 30007 }), { status: 201, code: 30007 }],
    [
      '200',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
      },
      { status: 200 },
    ],
    [
      'connection',
      (response: ServerResponse) => {
        response.destroy();
      },
      { failure: expect.stringMatching(/^[A-Z_]+$/) as string },
    ],
  ])(
    'O58 records the reason %s in the audit log and a metric, refunds the message, and sends it once',
    async (code, answer, details) => {
      const [before, total, left] = [
        await valueOf('otp_send_failure_codes_total', { code }),
        await valueOf('otp_send_failures_total'),
        await valueOf('otp_daily_total_remaining'),
      ];
      expect(await failWith(answer)).toEqual([
        { action: 'otp.send_failed', actor: 'service', reason: null, details },
      ]);
      expect(await valueOf('otp_send_failure_codes_total', { code })).toBe(before + 1);
      expect(await valueOf('otp_send_failures_total')).toBe(total + 1);
      expect(await valueOf('otp_daily_total_remaining')).toBe(left);
      expect(twilio.requests).toHaveLength(1);
    },
  );

  it('O58 sends a message again that was too many (20429)', async () => {
    const answers = [json(429, { code: 20429 }), queued];
    respond = (response) => answers.shift()?.(response);
    const user = await app.addUser();
    await submitPhone(new Browser(app), authorizeLink(client), user.phone);
    await app.service(SmsQueue).idle();
    expect(forms().map((form) => form.get('To'))).toEqual([user.phone, user.phone]);
    const trail = await auditTrail(app.dataSource, user.id);
    expect(trail.map(({ action }) => action)).not.toContain('otp.send_failed');
  });
});
