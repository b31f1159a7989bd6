import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { getRaw } from '../support/raw-request.js';
import { useTestApp } from '../support/test-app.js';

const NEVER = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

type Header = [name: string, value: string];
const JSON_TYPE: Header = ['Content-Type', 'application/json'];
const FORM: Header = ['Content-Type', 'application/x-www-form-urlencoded'];

/** What could be made of a body, were it read. */
const BODIES: [string, Header[], string | Buffer][] = [
  ['JSON', [JSON_TYPE], '{"content":"x","text":"x"}'],
  ['malformed JSON', [JSON_TYPE], '{'],
  ['bytes that are not UTF-8', [JSON_TYPE], Buffer.from([0xff, 0xfe])],
  ['a form', [FORM], 'page=2&access_token=x'],
  ['no type', [], 'x'],
  ['an encoding that it is not in', [JSON_TYPE, ['Content-Encoding', 'gzip']], '{}'],
  ['more than a body may have', [JSON_TYPE], ' '.repeat(300_000)],
];

const OWN = ['connection', 'keep-alive', 'date'];

async function answerOf(answer: Response): Promise<unknown[]> {
  const headers = [...answer.headers].filter(([name]) => !OWN.includes(name));
  return [answer.status, headers, await answer.text()];
}

onOneEngine('Bodies that nobody asked for', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let postId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
    await member.comment(postId);
  });

  describe.each(BODIES)('%s', (_, headers, text) => {
    const body = Buffer.from(text);

    const own = (): Header[] => [
      ['Authorization', `Bearer ${member.token}`],
      ['X-Request-Id', 'same'],
    ];

    function get(path: string, sent?: Buffer): Promise<Response> {
      const length: Header = ['Content-Length', String(body.length)];
      const all: Header[] = [
        ['Host', new URL(app().baseUrl).host],
        ['Connection', 'close'],
        ...own(),
      ];
      if (sent) all.push(...headers, length);
      return getRaw(`${app().baseUrl}/dev/v1${path}`, all.flat(), sent);
    }

    const remove = (path: string, sent?: Buffer<ArrayBuffer>): Promise<Response> =>
      app().fetch(`/dev/v1${path}`, {
        method: 'DELETE',
        headers: [...own(), ...(sent ? headers : [])],
        body: sent,
      });

    it.each([
      '/me',
      '/posts',
      '/posts/:id',
      '/posts/:id/analytics',
      '/posts/:id/comments',
      `/posts/${NEVER}`,
      '/posts?page=0',
    ])('C84 GET %s answers the same with it as without', async (path) => {
      const url = path.replace(':id', postId);
      const without = await answerOf(await get(url));
      expect(await answerOf(await get(url, body))).toEqual(without);
      expect(without[0]).toBe(path.includes(NEVER) ? 404 : path.endsWith('=0') ? 400 : 200);
    });

    it('C84 DELETE answers the same with it as without', async () => {
      const { id } = await member.publish();
      const comment = await member.comment(id);
      for (const [path, made] of [
        ['/comments', comment.id],
        ['/posts', id],
      ] as const) {
        const removed = await remove(`${path}/${made}`, body);
        expect([removed.status, await removed.json()]).toEqual([200, { id: made, deleted: true }]);
        const without = await answerOf(await remove(`${path}/${made}`));
        expect(await answerOf(await remove(`${path}/${made}`, body))).toEqual(without);
        expect(without[0]).toBe(404);
      }
    });
  });
});
