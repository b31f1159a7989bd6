import type { TextMessage } from '../../../src/modules/oauth/sign-in/sms/sms-senders.js';
import { Browser } from '../../support/browser.js';
import { Cluster } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { SmsInbox } from '../../support/doubles.js';
import { type LogLine, logLines, requestLines } from '../../support/logs.js';
import { Member } from '../../support/member.js';
import { authorizeLink, exchange, redirectParameters } from '../../support/oauth-flow.js';
import { CALLER, exportedSpans, type ExportedSpan, TRACEPARENT } from '../../support/otlp.js';
import { RecordingServer } from '../../support/recording-server.js';
import { json, type TokenBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { TEST_LIMITS, useTestApp, withoutTable } from '../../support/test-app.js';

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const SPAN_ID = /^[0-9a-f]{16}$/;
const TRACE_ID = /^[0-9a-f]{32}$/;

onOneEngine('Traces', (database) => {
  const setupApp = useTestApp(database);
  let collector: RecordingServer;
  let gateway: RecordingServer;
  let service: ServiceProcess;
  let requests = 0;
  const sms = new SmsInbox();

  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    collector = await RecordingServer.open();
    gateway = await RecordingServer.open({
      respond(response) {
        sms.messages.push(JSON.parse(String(gateway.requests.at(-1)?.body)) as TextMessage);
        response.end();
      },
    });
    service = await startProcess({
      url: database.url,
      env: {
        ...TEST_LIMITS,
        DEMO: '0',
        SMS_SENDER: 'webhook',
        SMS_WEBHOOK_URL: `${gateway.url}/hooks/a-secret-path?key=a-secret-key`,
        SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=of-the-collector',
        OTEL_SERVICE_NAME: 'garden',
        OTEL_BSP_SCHEDULE_DELAY: '50',
      },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await collector?.close();
    await gateway?.close();
  });

  const spans = (): ExportedSpan[] => collector.requests.flatMap(({ body }) => exportedSpans(body));

  /** Waits for the log line of a request. */
  async function lineOf(clientRequestId: string): Promise<LogLine> {
    const find = (): LogLine | undefined =>
      requestLines(service.output()).find(
        ({ client_request_id }) => client_request_id === clientRequestId,
      );
    await expect.poll(find).toBeDefined();
    return find() as LogLine;
  }

  /** Waits for the spans of a trace. @param kind of the last span that the service ends */
  async function spansOf(traceId: unknown, kind = SERVER): Promise<ExportedSpan[]> {
    const find = (): ExportedSpan[] => spans().filter((span) => span.traceId === traceId);
    await expect.poll(find, { timeout: 5000 }).toContainEqual(expect.objectContaining({ kind }));
    return find();
  }

  /** Sends a request. Returns its log line and the spans of its trace. */
  async function trace(
    path: string,
    init: RequestInit = {},
  ): Promise<{ line: LogLine; spans: ExportedSpan[] }> {
    requests += 1;
    const id = `request-${requests}`;
    const headers = { ...init.headers, 'x-request-id': id };
    await (
      await fetch(`${service.baseUrl}${path}`, { redirect: 'manual', ...init, headers })
    ).text();
    const line = await lineOf(id);
    return { line, spans: await spansOf(line.trace_id) };
  }

  it('have one span per request, with method, route and status, and the trace id in the log', async () => {
    const member = await Member.join(setupApp());
    const { line, spans: found } = await trace('/dev/v1/posts/post_none?of=nobody', {
      headers: {
        authorization: `Bearer ${member.token}`,
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-host': 'any-text.example:81',
        'x-forwarded-proto': 'any-scheme',
        forwarded: 'host=another-text.example:82;proto=any-scheme',
      },
    });
    const { hostname, port } = new URL(service.baseUrl);
    expect(found).toEqual([
      {
        name: 'GET /dev/v1/posts/:id',
        traceId: expect.stringMatching(TRACE_ID),
        spanId: expect.stringMatching(SPAN_ID),
        parentSpanId: '',
        kind: SERVER,
        status: 0,
        statusMessage: '',
        events: 0,
        attributes: {
          'http.request.method': 'GET',
          'http.route': '/dev/v1/posts/:id',
          'http.response.status_code': 404,
          'network.protocol.version': '1.1',
          'server.address': hostname,
          'server.port': Number(port),
          'url.scheme': 'http',
        },
        resource: expect.objectContaining({ 'service.name': 'garden' }),
      },
    ]);
    expect(line).toMatchObject({ route: '/dev/v1/posts/:id', status: 404 });
  });

  it('continue the trace of the caller (W3C Trace Context)', async () => {
    const { line, spans: found } = await trace('/dev/v1/me', {
      headers: { traceparent: TRACEPARENT },
    });
    expect(line.trace_id).toBe(CALLER.traceId);
    expect(found).toMatchObject([{ name: 'GET /dev/v1/me', parentSpanId: CALLER.spanId }]);
  });

  it('start a new trace after an invalid traceparent, and have the name "unrouted" for unknown paths', async () => {
    const { spans: found } = await trace('/nothing/here', {
      headers: { traceparent: `00-${'0'.repeat(32)}-${CALLER.spanId}-01` },
    });
    expect(found).toMatchObject([
      {
        name: 'GET unrouted',
        traceId: expect.not.stringMatching(/^0+$/),
        parentSpanId: '',
        attributes: { 'http.response.status_code': 404 },
      },
    ]);
  });

  it('mark internal errors, whose log line has the trace id, too', async () => {
    const { token } = await Member.join(setupApp());
    const headers = { authorization: `Bearer ${token}` };
    const { line, spans: found } = await withoutTable(setupApp(), 'posts', () =>
      trace('/dev/v1/posts', { headers }),
    );
    expect(found).toMatchObject([{ status: ERROR, statusMessage: '', events: 0 }]);
    const lines = logLines(service.output()).filter(
      ({ request_id }) => request_id === line.request_id,
    );
    expect(lines).toMatchObject([
      { level: 'error', msg: 'internal_error', trace_id: line.trace_id },
      { level: 'info', msg: 'request', trace_id: line.trace_id },
    ]);
  });

  it('leave out health checks', async () => {
    for (const path of ['/livez', '/readyz']) await fetch(`${service.baseUrl}${path}`);
    const { spans: found } = await trace('/dev/v1/me');
    expect(found).toHaveLength(1);
    const routes = spans().map(({ attributes }) => attributes['http.route']);
    expect(routes).not.toContain('/livez');
    expect(routes).not.toContain('/readyz');
  });

  it('are sent with the headers of OTEL_EXPORTER_OTLP_HEADERS', () => {
    const [first] = collector.requests;
    expect(first).toMatchObject({
      path: '/v1/traces',
      headers: {
        'content-type': 'application/x-protobuf',
        'x-api-key': 'of-the-collector',
      },
    });
  });

  it('continue at the SMS gateway, and contain no code, state, token, secret, cookie or phone', async () => {
    const user = await setupApp().addUser();
    const client = await setupApp().addClient();
    const state = 'a-state-of-the-app';
    const site = new Cluster(service.baseUrl, [service], service, sms);
    const tracestate = 'garden=tracestate-of-the-client';
    const baggage = 'user=baggage-of-the-client';
    const visitor = new Browser(site, { traceparent: TRACEPARENT, tracestate, baggage });
    const consent = await visitor.signIn(authorizeLink(client, { state }), user);
    const done = await visitor.submit(consent, '/oauth/authorize/decision', {
      scope: [...client.scopes],
      decision: 'approve',
    });
    const code = redirectParameters(done).get('code') ?? '';
    const careless = `/oauth/token?code=${code}&client_secret=${client.secret}`;
    await site.fetch(careless, { method: 'POST' });
    const tokens = await json<TokenBody>(await exchange(site, client, code));
    await trace('/dev/v1/me', { headers: { authorization: `Bearer ${tokens.access_token}` } });

    const [request] = gateway.requests;
    const [, traceId, parentId] = String(request?.headers.traceparent).split('-');
    expect(traceId).toBe(CALLER.traceId);
    expect(request?.headers).not.toHaveProperty('tracestate');
    expect(request?.headers).not.toHaveProperty('baggage');
    const found = await spansOf(CALLER.traceId, CLIENT);
    const call = found.find(({ spanId }) => spanId === parentId);
    expect(call).toMatchObject({
      name: 'POST',
      kind: CLIENT,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
      },
    });
    const parent = found.find(({ spanId }) => spanId === call?.parentSpanId);
    expect(parent?.name).toBe('POST /oauth/authorize/sign-in');

    const names = spans().map(({ name }) => name);
    for (const name of ['GET /oauth/authorize', 'POST /oauth/token', 'GET /dev/v1/me'])
      expect(names).toContain(name);
    const sent = collector.requests.map(({ body }) => body.toString('latin1')).join('\n');
    for (const [name, value] of Object.entries({
      state,
      code,
      phone: user.phone.slice(1),
      'client secret': client.secret ?? '',
      'access token': tokens.access_token,
      'refresh token': tokens.refresh_token,
      'path of the gateway': 'a-secret-path',
      'key of the gateway': 'a-secret-key',
      tracestate,
      baggage,
      ...Object.fromEntries(visitor.cookies),
    })) {
      expect(value, name).not.toBe('');
      expect(sent.includes(value), name).toBe(false);
    }
    expect(sent).not.toMatch(/[?&](code|state)=|user_agent|client\.address|url\.(path|query)/);
  });
});
