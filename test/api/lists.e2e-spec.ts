import {
  expectFieldErrors,
  expectApiError,
  fill,
  idsOf,
  type List,
  LIST_PATHS,
  LISTS,
  pageIn,
} from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Lists', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  describe.each(LIST_PATHS)('%s', (pattern) => {
    let list: List;
    beforeEach(async () => {
      list = await LISTS[pattern](app());
    });

    const get = (query = '') => list.member.get(`${list.path}${query}`);

    it('C85 Without a query, it is page 1 of 20 items, newest first, told as integers', async () => {
      const ids = await fill(list, 21);
      const first = await pageIn(await get());
      expect(first.meta).toStrictEqual({ page: 1, limit: 20, total: 21 });
      expect(idsOf(first)).toEqual(ids.slice(0, 20));
      const second = await pageIn(await get('?page=2'));
      expect(second.meta).toStrictEqual({ page: 2, limit: 20, total: 21 });
      expect(idsOf(second)).toEqual(ids.slice(20));
    });

    it('Its pages hold every item once, whatever the limit', async () => {
      const ids = await fill(list, 5);
      for (const limit of [1, 2, 5, 50]) {
        const seen = [];
        for (let page = 1; page <= Math.ceil(5 / limit); page += 1)
          seen.push(...idsOf(await pageIn(await get(`?limit=${limit}&page=${page}`))));
        expect(seen).toEqual(ids);
      }
    });

    it('C89 Beyond its end it is empty, still tells the total, and takes no longer for it', async () => {
      await fill(list, 3);
      for (const page of [2, 1_000_000]) {
        const beyond = await pageIn(await get(`?page=${page}`));
        expect(beyond).toStrictEqual({ data: [], meta: { page, limit: 20, total: 3 } });
      }
      const fastest = async (query: string): Promise<number> => {
        const times = [];
        for (let call = 1; call <= 5; call += 1) {
          const start = performance.now();
          await pageIn(await get(query));
          times.push(performance.now() - start);
        }
        return Math.min(...times);
      };
      // On a machine that others keep busy, what counts is that it takes no longer than the first page.
      const most = Math.max(50, 3 * (await fastest('')));
      expect(await fastest('?page=1000000')).toBeLessThan(most);
    });

    it('Without items it is empty', async () => {
      const nothing = { data: [], meta: { page: 1, limit: 20, total: 0 } };
      expect(await pageIn(await get())).toStrictEqual(nothing);
    });

    it('C91 What was made in the same millisecond keeps one order, that of the ids', async () => {
      const now = app().clock.now().toISOString();
      const added = [];
      for (let item = 1; item <= 6; item += 1) {
        app().clock.set(now);
        added.push(await list.add());
      }
      const whole = await pageIn(await get());
      expect(new Set(whole.data.map(({ createdAt }) => createdAt)).size).toBe(1);
      expect(idsOf(whole)).toEqual(added.toSorted().toReversed());
      const oneByOne = [];
      for (let page = 1; page <= 6; page += 1)
        oneByOne.push(...idsOf(await pageIn(await get(`?limit=1&page=${page}`))));
      expect(oneByOne).toEqual(idsOf(whole));
    });

    it('C92 What was deleted is neither in data nor in total, on any page', async () => {
      const ids = await fill(list, 4);
      const [newest = '', second, third = '', oldest] = ids;
      for (const id of [newest, third]) expect((await list.remove(id)).status).toBe(200);
      const left = await pageIn(await get());
      expect(idsOf(left)).toEqual([second, oldest]);
      expect(left.meta.total).toBe(2);
      const last = await pageIn(await get('?limit=1&page=2'));
      expect(idsOf(last)).toEqual([oldest]);
      expect(last.meta.total).toBe(2);
    });

    it('C93 Right after adding and deleting at once, total is the number that is there', async () => {
      const there = new Set(await fill(list, 4));
      for (let round = 1; round <= 3; round += 1) {
        const gone = [...there].slice(0, 3);
        const [added, removed] = await Promise.all([
          Promise.all(Array.from({ length: 5 }, () => list.add())),
          Promise.all(gone.map((id) => list.remove(id))),
        ]);
        expect(removed.map(({ status }) => status)).toEqual([200, 200, 200]);
        for (const id of gone) there.delete(id);
        for (const id of added) there.add(id);
        const quiet = await pageIn(await get('?limit=50'));
        expect(new Set(idsOf(quiet))).toEqual(there);
        expect(quiet.meta.total).toBe(there.size);
      }
    });
  });

  describe.each([
    ['/posts', 50, 'post'],
    ['/posts/:id/comments', 100, 'cmt'],
  ] as const)('The query of %s', (pattern, mostItems, prefix) => {
    let list: List;
    beforeAll(async () => {
      list = await LISTS[pattern](app());
    });

    const get = (query: string) => list.member.get(`${list.path}?${query}`);

    it.each([
      ['page', '0', 'too_small'],
      ['page', '-1', 'too_small'],
      ['page', '1000001', 'too_large'],
      ['page', '9999999999999999999999', 'too_large'],
      ['page', '9'.repeat(400), 'too_large'],
      ...['page', 'limit'].flatMap((name) =>
        ['', 'abc', '1.5', '0x1', '1e2', ' 1', '+1', '01', '1 ', 'null', 'NaN', '١'].map(
          (value) => [name, value, 'wrong_type'] as const,
        ),
      ),
    ] as const)('C86 %s=%s is refused', async (name, value, code) => {
      const answer = await get(`${name}=${encodeURIComponent(value)}`);
      await expectFieldErrors(answer, `${name} ${code}`);
    });

    it(`C87 limit is 1 to ${mostItems}`, async () => {
      await expectFieldErrors(await get('limit=0'), 'limit too_small');
      await expectFieldErrors(await get('limit=-1'), 'limit too_small');
      await expectFieldErrors(await get(`limit=${mostItems + 1}`), 'limit too_large');
      for (const limit of [1, mostItems])
        expect((await pageIn(await get(`limit=${limit}`))).meta.limit).toBe(limit);
    });

    it.each(['page', 'limit', 'before'])('C88 %s twice is refused', async (name) => {
      const value = name === 'before' ? `${prefix}_01kahq5f3veqdr8bn3tdmx3q0a` : '1';
      await expectFieldErrors(await get(`${name}=${value}&${name}=${value}`), `${name} wrong_type`);
    });

    it.each([
      '',
      'x',
      `${prefix}_`,
      `${prefix}_01kahq5f3veqdr8bn3tdmx3q0`,
      `${prefix}_01kahq5f3veqdr8bn3tdmx3q0aa`,
      `${prefix}_01KAHQ5F3VEQDR8BN3TDMX3Q0A`,
      ` ${prefix}_01kahq5f3veqdr8bn3tdmx3q0a`,
      `${prefix}_01kahq5f3veqdr8bn3tdmx3q0a\n`,
      'usr_01kahq5f3veqdr8bn3tdmx3q0a',
      `${prefix === 'post' ? 'cmt' : 'post'}_01kahq5f3veqdr8bn3tdmx3q0a`,
      "' OR 1=1 --",
    ])('before=%j is refused', async (value) => {
      const answer = await get(`before=${encodeURIComponent(value)}`);
      await expectFieldErrors(answer, 'before invalid_format');
    });

    it.each(['page[]=0', 'page[]=1', 'page[a]=1', 'limit[]=1', 'before[]=x'])(
      'C88 ?%s is a parameter that nobody knows, and ignored',
      async (query) => {
        const { meta } = await pageIn(await get(query));
        expect(meta).toMatchObject({ page: 1, limit: 20 });
      },
    );

    it.each([
      'foo=1',
      '__proto__=x',
      'constructor=x',
      'toString=x',
      '%F0%9F%98%80=%ff',
      Array.from({ length: 1000 }, (_, number) => `p${number}=1`).join('&'),
    ])('C95 What is unknown in ?%s is ignored', async (query) => {
      const { meta } = await pageIn(await get(query));
      expect(meta).toMatchObject({ page: 1, limit: 20 });
    });

    it('C95 A thousand unknown names do not hide what comes after them', async () => {
      const unknown = Array.from({ length: 1000 }, (_, number) => `u${number}=1`).join('&');
      expect((await pageIn(await get(`?${unknown}&page=2&limit=1`))).meta).toMatchObject({
        page: 2,
        limit: 1,
      });
      await expectFieldErrors(await get(`?${unknown}&page=0`), 'page too_small');
    });

    it('is looked at before the post is looked for', async () => {
      const absent = pattern.replace(':id', 'post_01kahq5f3veqdr8bn3tdmx3q0a');
      await expectFieldErrors(await list.member.get(`${absent}?page=0`), 'page too_small');
    });
  });

  it('of comments are closed for a post that is not there', async () => {
    const member = await Member.join(app());
    const answer = await member.get('/posts/post_01kahq5f3veqdr8bn3tdmx3q0a/comments');
    await expectApiError(answer, 404, 'not_found');
  });
});
