import {
  ACCESS_LOG_CONTEXT,
  pinoFor,
  ServiceLogger,
} from '../../src/platform/observability/logger.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { newId } from '../../src/platform/ids.js';
import { obtainTokens, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { logLines, type LogLine } from '../support/logs.js';
import { Member } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { flushDeferredWrites, useTestApp } from '../support/test-app.js';

const OWN_ID = /^req_[0-9a-z]{26}$/;

onOneEngine('Request ids', (database) => {
  const app = useTestApp(database, { LOG_LEVEL: 'info' });
  const output: string[] = [];
  beforeAll(() => {
    const log = pinoFor(app().config, { write: (line: string) => void output.push(line) });
    app().nest.useLogger(new ServiceLogger(log));
  });

  /** Waits for the line of the access log with this request id. */
  async function accessLine(requestId: string | null): Promise<LogLine> {
    const find = () =>
      logLines(output.join('')).find(
        ({ context, request_id }) => context === ACCESS_LOG_CONTEXT && request_id === requestId,
      );
    await expect.poll(find).toBeDefined();
    return find() as LogLine;
  }

  function send(path: string, headers: string[]): Promise<Response> {
    return sendBytes(app().baseUrl, [...requestHead(app().baseUrl, 'GET', path), ...headers]);
  }

  it.each([
    ['an API call', '/dev/v1/me'],
    ['an unknown path', '/nothing/here'],
    ['a path that cannot be decoded', '/dev/v1/posts/%E0%A4%A'],
    ['a page', '/account'],
    ['a static file', '/docs/swagger-ui.css'],
    ['a health check', '/livez'],
  ])(
    'C26 has a new id in the response to %s, and the id of the client in the log only',
    async (_, path) => {
      const response = await send(path, ['X-Request-Id: my-id_1.2']);
      const requestId = response.headers.get('x-request-id');
      expect(requestId).toMatch(OWN_ID);
      expect(await response.text()).not.toContain('my-id_1.2');
      if (path === '/livez') return;
      expect(await accessLine(requestId)).toMatchObject({ client_request_id: 'my-id_1.2' });
    },
  );

  it.each([
    ['a space', ['a b']],
    ['a quote', ['"']],
    ['markup', ['<script>']],
    ['65 characters', ['x'.repeat(65)]],
    ['1000 characters', ['x'.repeat(1000)]],
    ['a character outside of ASCII', ['\u00e9']],
    ['a tab', ['a\tb']],
    ['no characters', ['']],
    ['two values', ['one', 'two']],
    ['two equal values', ['one', 'one']],
  ])('C26 ignores an X-Request-Id with %s', async (_, ids) => {
    const response = await send(
      '/dev/v1/me',
      ids.map((id) => `X-Request-Id: ${id}`),
    );
    const requestId = response.headers.get('x-request-id');
    expect(requestId).toMatch(OWN_ID);
    expect(await accessLine(requestId)).not.toHaveProperty('client_request_id');
  });

  it('C26 logs the longest valid id of a client, and an id of the form of its own', async () => {
    for (const id of ['x'.repeat(64), newId('req', new Date())]) {
      const requestId = (await send('/dev/v1/me', [`X-Request-Id: ${id}`])).headers.get(
        'x-request-id',
      );
      expect(requestId).not.toBe(id);
      expect(await accessLine(requestId)).toMatchObject({ client_request_id: id });
    }
  });

  it('C26 has its own id in the call log and the audit log', async () => {
    const member = await Member.join(app());
    const taken = { 'x-request-id': 'chosen-by-the-client' };
    const called = await app().fetch('/dev/v1/me', {
      headers: { ...taken, authorization: `Bearer ${member.token}` },
    });
    const client = await app().addClient();
    const { refresh_token: token } = await obtainTokens(app(), client);
    const revoked = await sendForm(app(), '/oauth/revoke', client, { token }, taken);
    expect([called.status, revoked.status]).toEqual([200, 200]);
    await flushDeferredWrites(app());
    const { manager } = app().dataSource;
    const idOf = ({ headers }: Response) => headers.get('x-request-id') ?? '';
    expect(await manager.countBy(ApiCall, { requestId: idOf(called) })).toBe(1);
    expect(await manager.countBy(AuditEvent, { requestId: idOf(revoked) })).toBe(1);
    const stored = { requestId: 'chosen-by-the-client' };
    expect(await manager.countBy(ApiCall, stored)).toBe(0);
    expect(await manager.countBy(AuditEvent, stored)).toBe(0);
  });

  it('C26 sends no id of the client from the HTTP parser', async () => {
    for (const invalid of [
      'X-A: a\0b',
      'X-A: a\rX-Injected: 1',
      'Content-Length: -1',
      'Host: second.example',
    ]) {
      const response = await send('/dev/v1/me', ['X-Request-Id: my-id', invalid]);
      expect(response.status).toBe(400);
      expect(response.headers.get('x-request-id')).toBeNull();
    }
  });
});
