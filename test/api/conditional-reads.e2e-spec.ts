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

onOneEngine('A read that the client has made before', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let id: string;
  beforeEach(async () => {
    member = await Member.join(app());
    ({ id } = await member.publish());
    await member.comment(id);
  });

  // By default fetch would forbid the 304 that a condition asks for.
  const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app().fetch(`/dev/v1${path.replace(':id', id)}`, {
      method,
      cache: 'force-cache',
      headers: { authorization: `Bearer ${member.token}`, ...headers },
    });
  const tagOf = (answer: Response) => answer.headers.get('etag') ?? '';

  it.each(READS)('C117 %s answers 304 without a body while nothing has changed', async (path) => {
    const first = await read(path);
    expect(tagOf(first)).toMatch(/^(W\/)?"[^"]+"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const wanted = [tagOf(first), `"another", ${tagOf(first)}`, '*'];
    for (const ifNoneMatch of wanted) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await read(path, { 'if-none-match': ifNoneMatch }, method);
        expect([answer.status, await answer.text(), tagOf(answer)]).toEqual([
          304,
          '',
          tagOf(first),
        ]);
      }
    }
    expect((await read(path, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('C117 A change is a new answer, with a tag of its own', async () => {
    const paths = READS.filter((path) => path !== '/me');
    const tags = new Map<string, string>();
    for (const path of paths) tags.set(path, tagOf(await read(path)));
    await member.publish();
    await member.comment(id, 'And me');
    for (const path of paths.filter((each) => each !== '/posts/:id')) {
      const answer = await read(path, { 'if-none-match': tags.get(path) ?? '' });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(tagOf(answer)).not.toBe(tags.get(path));
    }
  });

  it('C117 What was deleted is a 404, and who may not read gets no 304', async () => {
    const tag = tagOf(await read('/posts/:id'));
    const anybody = await app().fetch(`/dev/v1/posts/${id}`, {
      cache: 'force-cache',
      headers: { 'if-none-match': tag },
    });
    expect(anybody.status).toBe(401);
    const other = await Member.join(app());
    const foreign = await read('/posts/:id', {
      'if-none-match': tag,
      authorization: `Bearer ${other.token}`,
    });
    expect(foreign.status).toBe(404);
    await member.delete(`/posts/${id}`);
    expect((await read('/posts/:id', { 'if-none-match': tag })).status).toBe(404);
  });
});
