import { onEachEngine } from '../../support/engines.js';
import { json } from '../../support/json.js';
import { useTestApp } from '../../support/test-app.js';
import { Member, type PageBody, type PostBody } from './member.js';
import { expectInvalid, expectRefusal } from './refusal.js';

onEachEngine('Lists', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  const page = async (answer: Promise<Response>): Promise<PageBody<{ id: string }>> => {
    expect((await answer).status).toBe(200);
    return json<PageBody<{ id: string }>>(await answer);
  };
  const idsOf = ({ data }: PageBody<{ id: string }>) => data.map(({ id }) => id);

  /** A member with so many things in each list, oldest first and a millisecond apart. */
  async function withLists(count: number) {
    const member = await Member.join(app());
    const posts = [];
    for (let post = 1; post <= count; post += 1) {
      app().clock.advance(1);
      posts.push((await member.publish()).id);
    }
    const [first = ''] = posts;
    const comments = [];
    for (let comment = 1; comment <= count; comment += 1) {
      app().clock.advance(1);
      comments.push((await member.comment(first)).id);
    }
    return {
      member,
      lists: [
        { path: '/posts', ids: posts.toReversed() },
        { path: `/posts/${first}/comments`, ids: comments.toReversed() },
      ],
    };
  }

  it('default to page 1 of 20 items, newest first, and tell integers', async () => {
    const { member, lists } = await withLists(21);
    for (const { path, ids } of lists) {
      const first = await page(member.get(path));
      expect(first.meta).toStrictEqual({ page: 1, limit: 20, total: 21 });
      expect(idsOf(first)).toEqual(ids.slice(0, 20));
      const second = await page(member.get(`${path}?page=2`));
      expect(second.meta).toStrictEqual({ page: 2, limit: 20, total: 21 });
      expect(idsOf(second)).toEqual(ids.slice(20));
    }
  });

  it('hold every item once, whatever the limit', async () => {
    const { member, lists } = await withLists(5);
    for (const { path, ids } of lists) {
      for (const limit of [1, 2, 5, 50]) {
        const seen = [];
        for (let number = 1; number <= Math.ceil(5 / limit); number += 1)
          seen.push(...idsOf(await page(member.get(`${path}?limit=${limit}&page=${number}`))));
        expect(seen).toEqual(ids);
      }
    }
  });

  it('are empty beyond their end, and still tell the total', async () => {
    const { member, lists } = await withLists(3);
    for (const { path } of lists) {
      for (const number of [2, 1_000_000]) {
        const beyond = await page(member.get(`${path}?page=${number}`));
        expect(beyond).toStrictEqual({ data: [], meta: { page: number, limit: 20, total: 3 } });
      }
    }
  });

  it('are empty without items', async () => {
    const member = await Member.join(app());
    const nothing = { data: [], meta: { page: 1, limit: 20, total: 0 } };
    expect(await page(member.get('/posts'))).toStrictEqual(nothing);
    const { id } = await member.publish();
    expect(await page(member.get(`/posts/${id}/comments`))).toStrictEqual(nothing);
  });

  it('keep one order for what was made in the same millisecond', async () => {
    const member = await Member.join(app());
    const posts: PostBody[] = [];
    for (let post = 1; post <= 6; post += 1) posts.push(await member.publish());
    expect(new Set(posts.map(({ createdAt }) => createdAt)).size).toBe(1);
    const whole = idsOf(await page(member.get('/posts')));
    expect(whole).toEqual(
      posts
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    const oneByOne = [];
    for (let number = 1; number <= 6; number += 1)
      oneByOne.push(...idsOf(await page(member.get(`/posts?limit=1&page=${number}`))));
    expect(oneByOne).toEqual(whole);
  });

  it('never hold what was deleted, neither in data nor in total', async () => {
    const { member, lists } = await withLists(3);
    const [posts, comments] = lists;
    await member.delete(`/comments/${comments?.ids[0]}`);
    await member.delete(`/posts/${posts?.ids[0]}`);
    for (const { path, ids } of lists) {
      const left = await page(member.get(path));
      expect(idsOf(left)).toEqual(ids.slice(1));
      expect(left.meta.total).toBe(2);
    }
  });

  it('tell the true total after publishing and deleting at once', async () => {
    const { member, lists } = await withLists(4);
    const old = lists[0]?.ids ?? [];
    const answers = await Promise.all([
      ...old.map((id) => member.delete(`/posts/${id}`)),
      ...Array.from({ length: 6 }, () => member.post('/posts', { content: 'Hi' })),
    ]);
    expect(answers.map(({ status }) => status)).not.toContain(500);
    const after = await page(member.get('/posts'));
    expect([after.data.length, after.meta.total]).toEqual([6, 6]);
  });

  describe.each(['/posts', '/posts/:id/comments'])('%s', (path) => {
    let member: Member;
    let list: string;
    beforeAll(async () => {
      member = await Member.join(app());
      list = path.replace(':id', (await member.publish()).id);
    });

    it.each([
      ['page', '0', 'too_small'],
      ['page', '-1', 'too_small'],
      ['page', '1000001', 'too_large'],
      ['page', '9999999999999999999999', 'too_large'],
      ['page', '9'.repeat(400), 'too_large'],
      ['limit', '0', 'too_small'],
      ['limit', '-1', 'too_small'],
      ['limit', '101', 'too_large'],
      ...['page', 'limit'].flatMap((name) =>
        ['', 'abc', '1.5', '0x1', '1e2', ' 1', '+1', '01', '1 ', 'null', 'NaN', '١'].map(
          (value) => [name, value, 'wrong_type'] as const,
        ),
      ),
    ] as const)('refuses %s=%s', async (name, value, code) => {
      const answer = await member.get(`${list}?${name}=${encodeURIComponent(value)}`);
      await expectInvalid(answer, `${name} ${code}`);
    });

    it.each(['page', 'limit'])('refuses %s twice', async (name) => {
      await expectInvalid(await member.get(`${list}?${name}=1&${name}=2`), `${name} wrong_type`);
    });

    it.each([
      'page[]=0',
      'page[a]=0',
      'foo=1',
      '__proto__=x',
      'constructor=x',
      'toString=x',
      '%F0%9F%98%80=%ff',
      Array.from({ length: 1000 }, (_, number) => `p${number}=1`).join('&'),
    ])('ignores the unknown parameter of ?%s', async (query) => {
      expect((await page(member.get(`${list}?${query}`))).meta.page).toBe(1);
    });

    it('looks at the query before it looks for the post', async () => {
      const absent = path.replace(':id', 'post_01kahq5f3veqdr8bn3tdmx3q0a');
      await expectInvalid(await member.get(`${absent}?page=0`), 'page too_small');
    });
  });

  it('of comments are closed for a post that is not there', async () => {
    const member = await Member.join(app());
    const answer = await member.get('/posts/post_01kahq5f3veqdr8bn3tdmx3q0a/comments');
    await expectRefusal(answer, 404, 'not_found');
  });
});
