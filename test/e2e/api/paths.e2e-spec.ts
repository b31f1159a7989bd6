import { connect } from 'node:net';
import { onEachEngine } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from './member.js';
import { expectRefusal } from './refusal.js';

/** Sends a GET of exactly this path, which `fetch` would tidy up first. Answers status line, headers and body as one text. */
function rawGet(url: string, path: string, token: string): Promise<string> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const received: string[] = [];
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      );
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => received.push(chunk));
    socket.on('error', reject).on('close', () => resolve(received.join('')));
  });
}

onEachEngine('Paths', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://site.example' });
  let member: Member;
  let id: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
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
  ])('%s is 404 as JSON, with a token or without', async (path) => {
    for (const token of [member.token, '']) {
      const answer = await rawGet(app().baseUrl, path, token);
      expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
      expect(answer).toMatch(/content-type: application\/json; charset=utf-8/i);
      expect(answer).toContain('"error":"not_found"');
      expect(answer.split('\r\n\r\n')[1]).not.toMatch(/Cannot|nope|alert/);
    }
  });

  it.each(['/posts/:id/', '/posts/:id/comments/', '/posts/:id/analytics/', '/POSTS/:id'])(
    '%s is 404',
    async (path) => {
      await expectRefusal(await member.get(path.replace(':id', id)), 404, 'not_found');
    },
  );

  it('gives an unknown path the whole error body', async () => {
    const body = await expectRefusal(await app().fetch('/dev/v1/nope'), 404, 'not_found');
    expect(body.error_description).toMatch(/documentation/);
  });

  it.each([
    ['upper case', (own: string) => own.toUpperCase()],
    ['a space after', (own: string) => `${own}%20`],
    ['a space before', (own: string) => `%20${own}`],
    ['a line break after', (own: string) => `${own}%0a`],
    ['another prefix', (own: string) => own.replace('post_', 'cmt_')],
    ['no prefix', (own: string) => own.replace('post_', '')],
    ['one character more', (own: string) => `${own}0`],
    ['NUL', () => '%00'],
    ['CR LF', () => 'post_%0d%0a'],
    ['5,000 characters', () => 'x'.repeat(5000)],
    ['a path', () => '..%2f..%2fetc%2fpasswd'],
    ['quotes', () => "'%20OR%201=1--"],
    ['emoji', () => '%F0%9F%98%80'],
    ['a wildcard', () => '%25'],
  ])('an id with %s is 404, and costs the statement of the token alone', async (_, change) => {
    let answer: Response | undefined;
    const statements = await app().statementsOf(async () => {
      answer = await member.get(`/posts/${change(id)}`);
    });
    if (!answer) throw new Error('There was no answer.');
    await expectRefusal(answer, 404, 'not_found');
    expect(statements.filter((statement) => !statement.includes('api_calls'))).toHaveLength(1);
  });

  it.each(['%E0%A4%A', '%', '%zz', '%ff'])(
    'an id encoded as %s is 400 on every path with one',
    async (encoded) => {
      for (const path of [`/posts/${encoded}`, `/posts/${encoded}/comments`])
        await expectRefusal(await member.get(path), 400, 'invalid_request');
      await expectRefusal(await member.delete(`/comments/${encoded}`), 400, 'invalid_request');
    },
  );

  it('permalinks and Location come from the configuration, whatever the Host', async () => {
    const answer = await member.postRaw('/posts', '{"content":"Hi"}', {
      'content-type': 'application/json',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    });
    const text = `${JSON.stringify([...answer.headers])}${await answer.text()}`;
    expect(text).toContain('https://site.example/post/');
    expect(text).not.toContain('evil');
  });

  it.each(['text/html', 'application/xml', '*/*', 'garbage', 'application/json;q=0'])(
    'whoever accepts "%s" gets JSON',
    async (accept) => {
      const headers = { accept, authorization: `Bearer ${member.token}` };
      const answer = await app().fetch('/dev/v1/me', { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const refused = await app().fetch('/dev/v1/nope', { headers: { accept } });
      await expectRefusal(refused, 404, 'not_found');
    },
  );
});
