import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../src/platform/errors.js';
import { expectApiError, expectFieldErrors } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, type PostBody } from '../support/member.js';
import { requestToken, sendRefresh } from '../support/oauth-flow.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const CODE = '424242';
const POST = { content: 'Free plums' };
const ALL =
  'quota_exceeded, service_unavailable, insufficient_scope, invalid_token, webhook_failure, lost_response, or slow= and at most 10000 milliseconds';

onOneEngine('Faults on demand', (database) => {
  // One connection has five permits, of which one app may hold three.
  const app = useTestApp(database, { DB_POOL_SIZE: '1', QUOTA_DEFAULT_LIMIT: '1000' });
  let member: Member;
  let real: Member;

  const joinTestApp = async (): Promise<Member> => {
    const user = await app().addUser({ testCode: CODE });
    return Member.join(app(), { user, client: await app().addClient({ test: true }) });
  };
  beforeAll(async () => {
    member = await joinTestApp();
    real = await Member.join(app());
  });

  const send = (
    { token }: Member,
    fault: string,
    path: string,
    { method = 'GET', body, headers }: { method?: string; body?: object; headers?: object } = {},
  ): Promise<Response> =>
    app().fetch(`/dev/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'test-fault': fault,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const publish = (who: Member, fault: string, headers = {}): Promise<Response> =>
    send(who, fault, '/posts', { method: 'POST', body: POST, headers });

  it.for<[ErrorCode, number, string?]>([
    ['quota_exceeded', 429, 'retry-after'],
    ['service_unavailable', 503, 'retry-after'],
    ['insufficient_scope', 403, 'www-authenticate'],
    ['invalid_token', 401, 'www-authenticate'],
  ])(
    '%s is the documented error of a publish and stores nothing',
    async ([fault, status, header = '']) => {
      const before = await footprintOf(member);
      const response = await publish(member, fault);
      expect(response.headers.get(header)).toBeTruthy();
      await expectApiError(response, status, fault);
      expect(await footprintOf(member)).toEqual(before);
      expect((await publish(member, '')).status).toBe(201);
    },
  );

  it('too_many_requests is the documented error of a comment and of a deletion, and stores nothing', async () => {
    const { id } = await member.publish();
    const before = await footprintOf(member);
    const comment = { method: 'POST', body: { text: 'Count me in' } };
    const fault = 'too_many_requests';
    for (const response of [
      await send(member, fault, `/posts/${id}/comments`, comment),
      await send(member, fault, `/posts/${id}`, { method: 'DELETE' }),
    ]) {
      expect(response.headers.get('ratelimit-policy')).toMatch(/^"writes-minute";/);
      await expectApiError(response, 429, 'too_many_requests');
    }
    expect(await footprintOf(member)).toEqual(before);
  });

  it('quota_exceeded comes after the check of the fields, and names the next month', async () => {
    const invalid = { method: 'POST', body: { latitude: 91, longitude: 0 } };
    const response = await send(member, 'quota_exceeded', '/posts', invalid);
    await expectApiError(response, 400, 'invalid_request');
    app().clock.set('2026-11-21T09:30:00.000Z');
    const { error_description } = await expectApiError(
      await publish(await joinTestApp(), 'quota_exceeded'),
      429,
      'quota_exceeded',
    );
    expect(error_description).toContain('2026-12-01T00:00:00.000Z');
  });

  it('lists the values of the operation after an unknown one', async () => {
    const response = await publish(member, 'teapot');
    const body = await expectFieldErrors(response, 'Test-Fault not_allowed_value');
    expect(body.errors?.[0]?.message).toBe(`Test-Fault must be one of ${ALL}.`);
    for (const fault of ['quota_exceeded', 'too_many_requests', 'insufficient_scope'])
      await expectFieldErrors(await send(member, fault, '/quota'), 'Test-Fault not_allowed_value');
    for (const fault of [
      'slow=',
      'slow=-1',
      'slow=10001',
      'slow=99999999',
      'slow=1.5',
      'lost_response, lost_response',
    ])
      await expectFieldErrors(await send(member, fault, '/me'), 'Test-Fault not_allowed_value');
  });

  it('requires authentication first', async () => {
    const response = await app().fetch('/dev/v1/me', { headers: { 'test-fault': 'teapot' } });
    await expectApiError(response, 401, 'unauthorized');
  });

  it.for([
    'quota_exceeded',
    'service_unavailable',
    'invalid_token',
    'lost_response',
    'slow=9000',
    'teapot',
  ])('O173 ignores the header of a real app: %s', async (fault) => {
    const startedAt = performance.now();
    expect((await publish(real, fault)).status).toBe(201);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('lost_response publishes, closes the connection, and a retry with the same key gets the stored result', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const before = await footprintOf(member);
    await expect(publish(member, 'lost_response', headers)).rejects.toThrow('fetch failed');
    expect((await footprintOf(member)).posts).toBe(before.posts + 1);
    const retry = await publish(member, '', headers);
    expect([retry.status, retry.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    const { id } = await json<PostBody>(retry);
    expect((await member.get(`/posts/${id}`)).status).toBe(200);
    expect((await footprintOf(member)).quotaUsed).toBe(before.quotaUsed + 1);
  });

  it('O173 lost_response sends no byte, also of an error and of a response without a change', async () => {
    for (const path of ['/me', '/posts/post_none'])
      await expect(send(member, 'lost_response', path)).rejects.toThrow('fetch failed');
  });

  it('O173 lost_response and slow release their permits', async () => {
    for (let round = 0; round < 10; round += 1) {
      await expect(send(member, 'lost_response', '/me')).rejects.toThrow('fetch failed');
      expect((await send(member, 'slow=1', '/me')).status).toBe(200);
    }
    const abandoned = AbortSignal.timeout(50);
    const request = {
      headers: { authorization: `Bearer ${member.token}`, 'test-fault': 'slow=9000' },
    };
    for (let round = 0; round < 10; round += 1)
      await app()
        .fetch('/dev/v1/me', { ...request, signal: abandoned })
        .catch(() => undefined);
    expect((await member.get('/me')).status).toBe(200);
  });

  it('slow waits as long as asked for, also with a body', async () => {
    const startedAt = performance.now();
    expect((await publish(member, 'slow=300')).status).toBe(201);
    const passed = performance.now() - startedAt;
    expect(passed).toBeGreaterThanOrEqual(299);
  });

  it('O173 slow requests of a test app hold no permit: others, also its own, are served meanwhile', async () => {
    const end = new AbortController();
    const slow = Array.from({ length: 10 }, () =>
      app().fetch('/dev/v1/me', {
        headers: { authorization: `Bearer ${member.token}`, 'test-fault': 'slow=10000' },
        signal: end.signal,
      }),
    );
    const settled = Promise.allSettled(slow);
    for (let round = 0; round < 5; round += 1)
      for (const who of [real, member]) expect((await who.get('/me')).status).toBe(200);
    expect(await Promise.race([settled, Promise.resolve('waiting')])).toBe('waiting');
    end.abort();
    expect((await settled).map(({ status }) => status)).toEqual(slow.map(() => 'rejected'));
  });

  describe('at the token endpoint', () => {
    let client: TestClient;
    const refresh = (refreshToken: string, fault: string, by = client): Promise<Response> =>
      requestToken(
        app(),
        by,
        { grant_type: 'refresh_token', refresh_token: refreshToken },
        { 'test-fault': fault },
      );
    const issue = async (): Promise<string> => {
      const user = await app().addUser({ testCode: CODE });
      return (await app().issueTokens(user, client)).refreshToken;
    };
    beforeAll(async () => {
      client = await app().addClient({ test: true });
    });

    it('service_unavailable is temporarily_unavailable, and leaves the refresh token unused', async () => {
      const token = await issue();
      const response = await refresh(token, 'service_unavailable');
      expect(response.headers.get('retry-after')).toBe('5');
      await expectTokenError(response, 'temporarily_unavailable', 503);
      expect((await refresh(token, '')).status).toBe(200);
    });

    it('lost_response rotates, and a retry gets the stored tokens', async () => {
      const token = await issue();
      await expect(refresh(token, 'lost_response')).rejects.toThrow('fetch failed');
      app().clock.advance(5_000);
      const tokens = await json<TokenBody>(await sendRefresh(app(), client, token));
      expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(200);
    });

    it('lists the values after an unknown one', async () => {
      const response = await refresh(await issue(), 'quota_exceeded');
      const { error_description } = await json<{ error_description: string }>(response.clone());
      await expectTokenError(response, 'invalid_request');
      expect(error_description).toBe(
        'Test-Fault must be one of service_unavailable, lost_response, or slow= and at most 10000 milliseconds.',
      );
    });

    it('O173 ignores the header of a real app', async () => {
      const realClient = await app().addClient();
      for (const fault of ['service_unavailable', 'lost_response', 'teapot']) {
        const { refreshToken } = await app().issueTokens(await app().addUser(), realClient);
        expect((await refresh(refreshToken, fault, realClient)).status).toBe(200);
      }
    });
  });
});
