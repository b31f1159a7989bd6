import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { useTestApp } from '../support/test-app.js';

/** A statement that reads or changes posts or comments. */
const CONTENT_STATEMENT = /(FROM|UPDATE|INTO) [`"]?(posts|comments)\b/;

function otherPrefix(prefix: string): string {
  return prefix === 'post' ? 'cmt' : 'post';
}

async function expectUndecodable(response: Response): Promise<void> {
  const body = await expectApiError(response, 400, 'invalid_request');
  expect(body.error_description).toMatch(/^The path cannot be decoded: a % /);
}

onOneEngine('Paths', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let id: string;
  let commentId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
    ({ id: commentId } = await member.comment(id));
  });

  it.each([
    '/nope',
    '/dev',
    '/dev/',
    '/dev/v1',
    '/dev/v1/',
    '/dev/v1/nope',
    '/dev/v2/me',
    '/dev/v1/me/',
    '/dev/v1/posts/',
    '/dev/v1/comments',
    '/DEV/V1/me',
    '/dev/V1/me',
    '/dev/v1/ME',
    '/dev/v1/Posts',
    '/dev/v1//posts',
    '//dev/v1/me',
    '/dev/v1/./me',
    '/dev/v1/../v1/me',
    '/dev/v1/me%2f',
    '/dev/v1/me;a=b',
    '/dev/v1/<script>alert(1)</script>',
  ])('C1 C2 C12 C13 returns a JSON 404 for %s, with and without a token', async (path) => {
    for (const token of [member.token, '']) {
      const lines = [...requestHead(app().baseUrl, 'GET', path), `Authorization: Bearer ${token}`];
      const response = await sendBytes(app().baseUrl, lines);
      const body = await expectApiError(response, 404, 'not_found');
      expect(JSON.stringify(body)).not.toMatch(/Cannot|nope|alert/);
      expect(body.error_description).toMatch(/documentation/);
    }
  });

  it.each(['/posts/:id/', '/posts/:id/comments/', '/posts/:id/analytics/', '/POSTS/:id'])(
    'C12 C13 returns 404 for %s',
    async (path) => {
      await expectApiError(await member.get(path.replace(':id', id)), 404, 'not_found');
    },
  );

  it.each([
    ['upper case', (validId: string) => validId.toUpperCase()],
    ['a trailing space', (validId: string) => `${validId}%20`],
    ['a leading space', (validId: string) => `%20${validId}`],
    ['a trailing line break', (validId: string) => `${validId}%0a`],
    ['the prefix of users', (validId: string) => validId.replace(/^[a-z]+/, 'usr')],
    [
      'the prefix of posts or comments',
      (validId: string) => validId.replace(/^[a-z]+/, otherPrefix),
    ],
    ['no prefix', (validId: string) => validId.replace(/^[a-z]+_/, '')],
    ['an extra character', (validId: string) => `${validId}0`],
    ['NUL', () => '%00'],
    ['CR LF', () => 'post_%0d%0a'],
    ['5,000 characters', () => 'x'.repeat(5000)],
    ['a path', () => '..%2f..%2fetc%2fpasswd'],
    ['quotes', () => "'%20OR%201=1--"],
    ['emoji', () => '%F0%9F%98%80'],
    ['a wildcard', () => '%25'],
  ])(
    'C15 C16 C17 C18 returns 404 for an id with %s, without a lookup of posts or comments',
    async (_, change) => {
      const invalidId = change(id);
      const calls = [
        () => member.get(`/posts/${invalidId}`),
        () => member.get(`/posts/${invalidId}/analytics`),
        () => member.get(`/posts/${invalidId}/comments`),
        () => member.delete(`/posts/${invalidId}`),
        () => member.post(`/posts/${invalidId}/comments`, { text: 'Hi' }),
        () => member.delete(`/comments/${change(commentId)}`),
      ];
      const statements = await app().statementsOf(async () => {
        for (const call of calls) await expectApiError(await call(), 404, 'not_found');
      });
      expect(statements.filter((statement) => CONTENT_STATEMENT.test(statement))).toEqual([]);
    },
  );

  it('looks up a well-formed id in the database', async () => {
    const statements = await app().statementsOf(async () => {
      expect((await member.get(`/posts/${id}`)).status).toBe(200);
      const absent = await member.delete('/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a');
      await expectApiError(absent, 404, 'not_found');
    });
    expect(statements.filter((statement) => CONTENT_STATEMENT.test(statement))).toHaveLength(2);
  });

  it.each(['%E0%A4%A', '%', '%zz', '%ff'])(
    'C14 rejects an id encoded as %s with 400 and the reason, on every path with an id',
    async (encoded) => {
      const responses = [
        await member.get(`/posts/${encoded}`),
        await member.get(`/posts/${encoded}/analytics`),
        await member.get(`/posts/${encoded}/comments`),
        await member.post(`/posts/${encoded}/comments`, { text: 'Hi' }),
        await member.delete(`/posts/${encoded}`),
        await member.delete(`/comments/${encoded}`),
      ];
      for (const response of responses) await expectUndecodable(response);
    },
  );

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])(
    'C14 rejects invalid percent-encoding before method and token, for %s',
    async (method) => {
      for (const rest of ['', '/comments', '/analytics']) {
        const path = `/dev/v1/posts/%E0%A4%A${rest}`;
        const statements = await app().statementsOf(async () => {
          await expectUndecodable(await app().fetch(path, { method }));
          await expectUndecodable(
            await app().call('svcat_x', method, path.slice('/dev/v1'.length)),
          );
        });
        expect(statements.filter((statement) => /access_tokens/.test(statement))).toEqual([]);
      }
    },
  );
});
