import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const READS = [
  '/me',
  '/quota',
  '/posts',
  '/posts/:id',
  '/posts/:id/analytics',
  '/posts/:id/comments',
] as const;

onOneEngine('Conditional requests', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let id: string;
  beforeEach(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
    await member.comment(id);
  });

  // `fetch` adds `Cache-Control: no-cache` to a request with `If-None-Match`.
  const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app().fetch(`/dev/v1${path.replace(':id', id)}`, {
      method,
      headers: { authorization: `Bearer ${member.token}`, ...headers },
    });
  const tagOf = (response: Response) => response.headers.get('etag') ?? '';

  it.each(READS)('C117 return 304 without a body for an unchanged %s', async (path) => {
    const first = await read(path);
    expect(tagOf(first)).toMatch(/^(W\/)?"[^"]+"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const matching = [tagOf(first), `"another", ${tagOf(first)}`, '*'];
    for (const ifNoneMatch of matching) {
      for (const method of ['GET', 'HEAD']) {
        const response = await read(path, { 'if-none-match': ifNoneMatch }, method);
        expect([response.status, await response.text(), tagOf(response)]).toEqual([
          304,
          '',
          tagOf(first),
        ]);
      }
    }
    expect((await read(path, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it.each(['-gzip', ';gzip', '--gzip', '-br', '-zstd', '-deflate'])(
    'C117 return 304 for an entity tag to which a proxy that compresses added %s',
    async (suffix) => {
      const paths = ['/dev/v1/me', '/docs/guide', '/docs/guide/README.md', '/openapi.json'];
      for (const path of [...paths, '/docs/swagger-ui.css', '/assets/style.css']) {
        const headers = { authorization: `Bearer ${member.token}` };
        const tag = tagOf(await app().fetch(path, { headers }));
        const changed = tag.replace(/"$/, `${suffix}"`);
        for (const ifNoneMatch of [changed, `"another${suffix}", ${changed}`]) {
          const condition = { ...headers, 'if-none-match': ifNoneMatch };
          expect([path, (await app().fetch(path, { headers: condition })).status]).toEqual([
            path,
            304,
          ]);
        }
        const other = { ...headers, 'if-none-match': `"another${suffix}"` };
        expect((await app().fetch(path, { headers: other })).status).toBe(200);
      }
    },
  );

  it('C117 return 200 with a new entity tag after a change', async () => {
    // A new post and a new comment change these resources.
    const paths = READS.filter((path) => !['/me', '/posts/:id'].includes(path));
    const tags = new Map<string, string>();
    for (const path of paths) tags.set(path, tagOf(await read(path)));
    await member.publish();
    await member.comment(id, 'And me');
    for (const path of paths) {
      const response = await read(path, { 'if-none-match': tags.get(path) ?? '' });
      expect([path, response.status]).toEqual([path, 200]);
      expect(tagOf(response)).not.toBe(tags.get(path));
    }
  });

  it('C117 return 404 after deletion, and no 304 without access', async () => {
    const tag = tagOf(await read('/posts/:id'));
    const anonymous = await app().fetch(`/dev/v1/posts/${id}`, {
      headers: { 'if-none-match': tag },
    });
    expect(anonymous.status).toBe(401);
    const otherMember = await Member.join(app());
    const foreign = await read('/posts/:id', {
      'if-none-match': tag,
      authorization: `Bearer ${otherMember.token}`,
    });
    expect(foreign.status).toBe(404);
    await member.delete(`/posts/${id}`);
    expect((await read('/posts/:id', { 'if-none-match': tag })).status).toBe(404);
  });
});
