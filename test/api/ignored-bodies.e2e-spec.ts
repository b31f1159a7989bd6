import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { getRaw } from '../support/raw-request.js';
import { comparable } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const UNKNOWN_POST_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

type Header = [name: string, value: string];
type Body = [title: string, headers: Header[], bytes: Buffer<ArrayBuffer>];

const JSON_TYPE: Header = ['Content-Type', 'application/json'];
const FORM: Header = ['Content-Type', 'application/x-www-form-urlencoded'];

/** Each would change the response if the server read it. */
const BODIES: Body[] = [
  ['JSON', [JSON_TYPE], Buffer.from('{"content":"x","text":"x"}')],
  ['malformed JSON', [JSON_TYPE], Buffer.from('{')],
  ['bytes that are not UTF-8', [JSON_TYPE], Buffer.from([0xff, 0xfe])],
  ['a form', [FORM], Buffer.from('page=2&access_token=x')],
  ['no Content-Type', [], Buffer.from('x')],
  ['a wrong Content-Encoding', [JSON_TYPE, ['Content-Encoding', 'gzip']], Buffer.from('{}')],
  ['too many bytes', [JSON_TYPE], Buffer.alloc(300_000, ' ')],
];

const CONNECTION_HEADERS = ['connection', 'keep-alive'];

/** The parts of a response that are the same for each connection. */
async function comparableParts(response: Response): Promise<unknown[]> {
  const { status, headers, body } = await comparable(response);
  return [status, headers.filter(([name]) => !CONNECTION_HEADERS.includes(name)), body];
}

onOneEngine('Ignored request bodies', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let postId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
    await member.comment(postId);
  });

  const authorization = (): Header => ['Authorization', `Bearer ${member.token}`];

  function get(path: string, headers: Header[] = [], body?: Buffer): Promise<Response> {
    const all: Header[] = [
      ['Host', new URL(app().baseUrl).host],
      ['Connection', 'close'],
      authorization(),
      ...headers,
    ];
    if (body) all.push(['Content-Length', String(body.length)]);
    return getRaw(`${app().baseUrl}/dev/v1${path}`, all.flat(), body);
  }

  const remove = (path: string, headers: Header[] = [], body?: Buffer<ArrayBuffer>) =>
    app().fetch(`/dev/v1${path}`, {
      method: 'DELETE',
      headers: [authorization(), ...headers],
      body,
    });

  it.each([
    '/me',
    '/posts',
    '/posts/:id',
    '/posts/:id/analytics',
    '/posts/:id/comments',
    `/posts/${UNKNOWN_POST_ID}`,
    '/posts?page=0',
  ])('C84 GET %s ignores any body', async (path) => {
    const url = path.replace(':id', postId);
    const expected = await comparableParts(await get(url));
    expect(expected[0]).toBe(
      path.includes(UNKNOWN_POST_ID) ? 404 : path.endsWith('=0') ? 400 : 200,
    );
    const checks = BODIES.map(async ([title, headers, body]) => {
      expect(await comparableParts(await get(url, headers, body)), title).toEqual(expected);
    });
    await Promise.all(checks);
  });

  it('C84 DELETE ignores any body', async () => {
    const checks = BODIES.map(async ([title, headers, body]) => {
      const { id } = await member.publish();
      const comment = await member.comment(id);
      for (const [path, created] of [
        ['/comments', comment.id],
        ['/posts', id],
      ] as const) {
        const url = `${path}/${created}`;
        const removed = await remove(url, headers, body);
        const content = [removed.status, await removed.json()];
        expect(content, title).toEqual([200, { id: created, deleted: true }]);
        const expected = await comparableParts(await remove(url));
        expect(expected[0]).toBe(404);
        expect(await comparableParts(await remove(url, headers, body)), title).toEqual(expected);
      }
    });
    await Promise.all(checks);
  });
});
