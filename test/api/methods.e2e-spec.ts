import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { head, sendBytes } from '../support/raw-request.js';
import { fewestStatements, useTestApp } from '../support/test-app.js';

const UNKNOWN_POST = '/dev/v1/posts/post_01kahq5f3veqdr8bn3tdmx3q0a';
const DEVELOPER_API = [
  ['/dev/v1/me', 'GET, HEAD, OPTIONS'],
  ['/dev/v1/posts', 'GET, HEAD, OPTIONS, POST'],
  [UNKNOWN_POST, 'DELETE, GET, HEAD, OPTIONS'],
  ['/dev/v1/posts/x', 'DELETE, GET, HEAD, OPTIONS'],
  [`${UNKNOWN_POST}/analytics`, 'GET, HEAD, OPTIONS'],
  [`${UNKNOWN_POST}/comments`, 'GET, HEAD, OPTIONS, POST'],
  ['/dev/v1/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a', 'DELETE, OPTIONS'],
  ['/dev/v1/quota', 'GET, HEAD, OPTIONS'],
] as const;
const ELSEWHERE = [
  ['/', 'GET, HEAD, OPTIONS'],
  ['/livez', 'GET, HEAD, OPTIONS'],
  ['/readyz', 'GET, HEAD, OPTIONS'],
  ['/docs', 'GET, HEAD, OPTIONS'],
  ['/docs/errors', 'GET, HEAD, OPTIONS'],
  ['/docs/integrate.md', 'GET, HEAD, OPTIONS'],
  ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ['/assets/style.css', 'GET, HEAD, OPTIONS'],
  ['/account/apps', 'GET, HEAD, OPTIONS'],
  ['/account/sign-in', 'OPTIONS, POST'],
] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

onOneEngine('Methods', (database) => {
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
      'C3 C4 What %s does not take is 405 and told what it takes, before anybody is asked for a token',
      async (path, allow) => {
        const refused = METHODS.filter((method) => !allow.split(', ').includes(method));
        expect(refused).toContain('PUT');
        for (const method of refused) {
          const headers = { authorization: `Bearer ${member.token}` };
          for (const init of [{ method }, { method, headers }]) {
            let answer: Response | undefined;
            const statements = await fewestStatements(app(), async () => {
              answer = await app().fetch(path, init);
            });
            if (!answer) throw new Error('There was no answer.');
            const body = await expectApiError(answer, 405, 'method_not_allowed');
            expect(answer.headers.get('allow')).toBe(allow);
            expect(body.error_description).toContain(allow);
            expect(statements).toEqual([]);
          }
        }
      },
    );

    it.each(DEVELOPER_API)('C11 OPTIONS of %s tells what it takes', async (path, allow) => {
      const answer = await app().fetch(path, { method: 'OPTIONS' });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('allow')).toBe(allow);
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
      expect(await answer.text()).toBe('');
    });

    it('C1 A path that does not exist is 404, whatever the method', async () => {
      for (const method of [...METHODS, 'OPTIONS']) {
        const answer = await app().fetch('/dev/v1/nope', { method });
        await expectApiError(answer, 404, 'not_found');
        expect(answer.headers.get('allow')).toBeNull();
      }
    });

    it.each([
      '/me',
      '/quota',
      '/posts?limit=1',
      '/posts/:id',
      '/posts/:id/analytics',
      '/posts/:id/comments',
    ])('C7 HEAD of %s has the status, headers and cost of GET, and no body', async (path) => {
      const ask = (method: string): Promise<Response> => {
        const lines = head(app().baseUrl, method, `/dev/v1${path.replace(':id', id)}`);
        const own = [`Authorization: Bearer ${member.token}`, 'X-Request-Id: same'];
        return sendBytes(app().baseUrl, [...lines, ...own]);
      };
      const headersOf = (answer: Response) =>
        [...answer.headers].filter(([name]) => name !== 'date').toSorted();
      const got = await ask('GET');
      const headed = await ask('HEAD');
      expect([got.status, headed.status]).toEqual([200, 200]);
      expect((await got.text()).length).toBeGreaterThan(0);
      expect(await headed.text()).toBe('');
      expect(headersOf(headed)).toEqual(headersOf(got));
      expect(headed.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const cost = await fewestStatements(app(), () => ask('GET'));
      expect(await fewestStatements(app(), () => ask('HEAD'))).toEqual(cost);
    });

    it('C7 HEAD is refused as GET is', async () => {
      const { status, headers } = await app().fetch('/dev/v1/me', { method: 'HEAD' });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="dev"');
    });
  });

  describe('that browsers never send', () => {
    it.each([
      ['/dev/v1/me', 'GET, HEAD, OPTIONS'],
      ['/dev/v1/posts', 'GET, HEAD, OPTIONS, POST'],
      ['/oauth/token', 'OPTIONS, POST'],
      ['/livez', 'GET, HEAD, OPTIONS'],
    ])('C6 TRACE of %s is 405, and sends nothing back', async (path, allow) => {
      const lines = [...head(app().baseUrl, 'TRACE', path), 'X-Secret: echo'];
      const answer = await sendBytes(app().baseUrl, lines);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe(allow);
      expect(await answer.text()).not.toContain('echo');
    });

    it.each(['PROPFIND', 'PURGE', 'M-SEARCH'])('C6 %s is 405', async (method) => {
      const answer = await sendBytes(app().baseUrl, head(app().baseUrl, method, '/dev/v1/me'));
      await expectApiError(answer, 405, 'method_not_allowed');
    });

    it.each(['FOO', 'get', 'G@T'])('C6 %s is no method, and is 400', async (method) => {
      const answer = await sendBytes(app().baseUrl, head(app().baseUrl, method, '/dev/v1/me'));
      expect(answer.status).toBe(400);
      expect((await app().fetch('/livez')).status).toBe(200);
    });

    it('C6 CONNECT opens nothing', async () => {
      const opening = sendBytes(app().baseUrl, head(app().baseUrl, 'CONNECT', 'example.com:80'));
      await expect(opening).rejects.toThrow('without an answer');
      expect((await app().fetch('/livez')).status).toBe(200);
    });
  });

  describe('outside the developer API', () => {
    it.each(ELSEWHERE)('%s takes %s, and says so', async (path, allow) => {
      const asked = await app().fetch(path, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, allow]);
      for (const method of ['PUT', 'DELETE']) {
        const answer = await app().fetch(path, { method });
        await expectApiError(answer, 405, 'method_not_allowed');
        expect(answer.headers.get('allow')).toBe(allow);
      }
    });

    it('C2 The root is a page, and a path that does not exist is 404 as JSON', async () => {
      const page = await app().fetch('/');
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await page.text()).toMatch(/^<!doctype html>/i);
      for (const method of METHODS)
        await expectApiError(await app().fetch('/nope', { method }), 404, 'not_found');
    });
  });
});
