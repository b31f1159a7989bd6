import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { statementsWithoutBackground, useTestApp } from '../support/test-app.js';

const UNKNOWN_POST_PATH = '/dev/v1/posts/post_01kahq5f3veqdr8bn3tdmx3q0a';
const DEVELOPER_API = [
  ['/dev/v1/me', 'GET, HEAD, OPTIONS'],
  ['/dev/v1/posts', 'GET, HEAD, OPTIONS, POST'],
  [UNKNOWN_POST_PATH, 'DELETE, GET, HEAD, OPTIONS'],
  ['/dev/v1/posts/x', 'DELETE, GET, HEAD, OPTIONS'],
  [`${UNKNOWN_POST_PATH}/analytics`, 'GET, HEAD, OPTIONS'],
  [`${UNKNOWN_POST_PATH}/comments`, 'GET, HEAD, OPTIONS, POST'],
  ['/dev/v1/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a', 'DELETE, OPTIONS'],
  ['/dev/v1/quota', 'GET, HEAD, OPTIONS'],
] as const;
const OTHER_PATHS = [
  ['/', 'GET, HEAD, OPTIONS'],
  ['/livez', 'GET, HEAD, OPTIONS'],
  ['/readyz', 'GET, HEAD, OPTIONS'],
  ['/docs', 'GET, HEAD, OPTIONS'],
  ['/docs/api.md', 'GET, HEAD, OPTIONS'],
  ['/docs/client.tgz', 'GET, HEAD, OPTIONS'],
  ['/docs/errors', 'GET, HEAD, OPTIONS'],
  ['/docs/errors.md', 'GET, HEAD, OPTIONS'],
  ['/docs/guide', 'GET, HEAD, OPTIONS'],
  ['/docs/guide/errors', 'GET, HEAD, OPTIONS'],
  ['/docs/integrate.md', 'GET, HEAD, OPTIONS'],
  ['/docs/postman.json', 'GET, HEAD, OPTIONS'],
  ['/docs/postman-environment.json', 'GET, HEAD, OPTIONS'],
  ['/llms.txt', 'GET, HEAD, OPTIONS'],
  ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ['/assets/style.css', 'GET, HEAD, OPTIONS'],
  ['/account/apps', 'GET, HEAD, OPTIONS'],
  ['/account/sign-in', 'OPTIONS, POST'],
] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

onOneEngine('HTTP methods', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let id: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
    await member.comment(id);
  });

  describe('of the developer API', () => {
    it.each(DEVELOPER_API)(
      'C3 C4 C11 returns Allow for OPTIONS of %s, and with 405 for other methods, before authentication',
      async (path, allow) => {
        const options = await app().fetch(path, { method: 'OPTIONS' });
        expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([
          204,
          allow,
          '',
        ]);
        expect(options.headers.get('x-request-id')).toMatch(/^req_/);
        const otherMethods = METHODS.filter((method) => !allow.split(', ').includes(method));
        expect(otherMethods).toContain('PUT');
        for (const method of otherMethods) {
          const headers = { authorization: `Bearer ${member.token}` };
          for (const init of [{ method }, { method, headers }]) {
            let response: Response | undefined;
            const statements = await statementsWithoutBackground(app(), async () => {
              response = await app().fetch(path, init);
            });
            if (!response) throw new Error('There is no response.');
            const body = await expectApiError(response, 405, 'method_not_allowed');
            expect(response.headers.get('allow')).toBe(allow);
            expect(body.error_description).toContain(allow);
            expect(statements).toEqual([]);
          }
        }
      },
    );

    it('C1 returns 404 for an unknown path with every method', async () => {
      for (const method of [...METHODS, 'OPTIONS']) {
        const response = await app().fetch('/dev/v1/nope', { method });
        await expectApiError(response, 404, 'not_found');
        expect(response.headers.get('allow')).toBeNull();
      }
    });

    it.each([
      '/me',
      '/quota',
      '/posts?limit=1',
      '/posts/:id',
      '/posts/:id/analytics',
      '/posts/:id/comments',
    ])(
      'C7 returns the status and headers of GET for HEAD of %s, with the same statements and no body',
      async (path) => {
        const send = (method: string): Promise<Response> => {
          const lines = requestHead(app().baseUrl, method, `/dev/v1${path.replace(':id', id)}`);
          return sendBytes(app().baseUrl, [...lines, `Authorization: Bearer ${member.token}`]);
        };
        const headersOf = (response: Response) =>
          [...response.headers]
            .filter(([name]) => !['date', 'x-request-id'].includes(name))
            .toSorted();
        const got = await send('GET');
        const headed = await send('HEAD');
        expect([got.status, headed.status]).toEqual([200, 200]);
        expect((await got.text()).length).toBeGreaterThan(0);
        expect(await headed.text()).toBe('');
        expect(headersOf(headed)).toEqual(headersOf(got));
        expect(headed.headers.get('content-type')).toBe('application/json; charset=utf-8');
        const statements = await statementsWithoutBackground(app(), () => send('GET'));
        expect(await statementsWithoutBackground(app(), () => send('HEAD'))).toEqual(statements);
      },
    );

    it('C7 rejects HEAD without a token like GET', async () => {
      const { status, headers } = await app().fetch('/dev/v1/me', { method: 'HEAD' });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="dev", /);
    });
  });

  describe('that are unusual or invalid', () => {
    it.each([
      ['/dev/v1/me', 'GET, HEAD, OPTIONS'],
      ['/dev/v1/posts', 'GET, HEAD, OPTIONS, POST'],
      ['/oauth/token', 'OPTIONS, POST'],
      ['/livez', 'GET, HEAD, OPTIONS'],
    ])('C6 rejects TRACE of %s with 405 and echoes nothing', async (path, allow) => {
      const lines = [...requestHead(app().baseUrl, 'TRACE', path), 'X-Secret: echo'];
      const response = await sendBytes(app().baseUrl, lines);
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe(allow);
      expect(await response.text()).not.toContain('echo');
    });

    it.each([
      ...['PROPFIND', 'PURGE', 'M-SEARCH'].map((method) => [method, 405] as const),
      ...['FOO', 'get', 'G@T'].map((method) => [method, 400] as const),
    ])('C6 rejects %s with %d', async (method, status) => {
      const head = requestHead(app().baseUrl, method, '/dev/v1/me');
      const response = await sendBytes(app().baseUrl, head);
      expect(response.status).toBe(status);
      if (status === 405) await expectApiError(response, 405, 'method_not_allowed');
      expect((await app().fetch('/livez')).status).toBe(200);
    });

    it('C6 closes the connection on CONNECT', async () => {
      const opening = sendBytes(
        app().baseUrl,
        requestHead(app().baseUrl, 'CONNECT', 'example.com:80'),
      );
      await expect(opening).rejects.toThrow('closed the connection');
      expect((await app().fetch('/livez')).status).toBe(200);
    });
  });

  describe('outside the developer API', () => {
    it.each(OTHER_PATHS)('returns Allow for %s: %s', async (path, allow) => {
      const options = await app().fetch(path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
      for (const method of ['PUT', 'DELETE']) {
        const response = await app().fetch(path, { method });
        await expectApiError(response, 405, 'method_not_allowed');
        expect(response.headers.get('allow')).toBe(allow);
      }
    });

    it('C2 returns a page at the root and a JSON 404 for an unknown path', async () => {
      const page = await app().fetch('/');
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await page.text()).toMatch(/^<!doctype html>/i);
      for (const method of METHODS)
        await expectApiError(await app().fetch('/nope', { method }), 404, 'not_found');
    });
  });
});
