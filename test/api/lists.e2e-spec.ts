import {
  expectFieldErrors,
  addItems,
  idsOf,
  type List,
  LIST_PATHS,
  LISTS,
  readPage,
} from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

const UNKNOWN_NAMES = Array.from({ length: 1000 }, (_, number) => `p${number}=1`).join('&');

onOneEngine('Lists', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  describe.each(LIST_PATHS)('Pages of %s', (pattern) => {
    let list: List;
    beforeEach(async () => {
      list = await LISTS[pattern](app());
    });

    const get = (query = '') => list.member.get(`${list.path}${query}`);

    it('C85 have 20 items by default, newest first, and integers in meta', async () => {
      const empty = { data: [], meta: { page: 1, limit: 20, total: 0 } };
      expect(await readPage(await get())).toStrictEqual(empty);
      const ids = await addItems(list, 21);
      const first = await readPage(await get());
      expect(first.meta).toStrictEqual({ page: 1, limit: 20, total: 21 });
      expect(idsOf(first)).toEqual(ids.slice(0, 20));
      const second = await readPage(await get('?page=2'));
      expect(second.meta).toStrictEqual({ page: 2, limit: 20, total: 21 });
      expect(idsOf(second)).toEqual(ids.slice(20));
    });

    it('contain every item once, for limits below, at and above the number of items', async () => {
      const ids = await addItems(list, 5);
      for (const limit of [1, 2, 5, 50]) {
        const seen = [];
        for (let page = 1; page <= Math.ceil(5 / limit); page += 1)
          seen.push(...idsOf(await readPage(await get(`?limit=${limit}&page=${page}`))));
        expect(seen).toEqual(ids);
      }
    });

    it('C89 are empty beyond the end, with the total, and take little longer than page 1', async () => {
      await addItems(list, 3);
      for (const page of [2, 1_000_000]) {
        const beyond = await readPage(await get(`?page=${page}`));
        expect(beyond).toStrictEqual({ data: [], meta: { page, limit: 20, total: 3 } });
      }
      const fastest = async (query: string): Promise<number> => {
        const times = [];
        for (let call = 1; call <= 5; call += 1) {
          const start = performance.now();
          await readPage(await get(query));
          times.push(performance.now() - start);
        }
        return Math.min(...times);
      };
      // A busy machine slows down page 1 as well, so the maximum depends on the time of page 1.
      const maxMs = Math.max(50, 3 * (await fastest('')));
      expect(await fastest('?page=1000000')).toBeLessThan(maxMs);
    });

    it('C91 order items of the same millisecond by id', async () => {
      const now = app().clock.now().toISOString();
      const added = [];
      for (let item = 1; item <= 6; item += 1) {
        app().clock.set(now);
        added.push(await list.add());
      }
      const whole = await readPage(await get());
      expect(new Set(whole.data.map(({ createdAt }) => createdAt)).size).toBe(1);
      expect(idsOf(whole)).toEqual(added.toSorted().toReversed());
      const oneByOne = [];
      for (let page = 1; page <= 6; page += 1)
        oneByOne.push(...idsOf(await readPage(await get(`?limit=1&page=${page}`))));
      expect(oneByOne).toEqual(idsOf(whole));
    });

    it('C92 leave deleted items out of data and total', async () => {
      const ids = await addItems(list, 4);
      const [newest = '', second, third = '', oldest] = ids;
      for (const id of [newest, third]) expect((await list.remove(id)).status).toBe(200);
      const left = await readPage(await get());
      expect(idsOf(left)).toEqual([second, oldest]);
      expect(left.meta.total).toBe(2);
      const last = await readPage(await get('?limit=1&page=2'));
      expect(idsOf(last)).toEqual([oldest]);
      expect(last.meta.total).toBe(2);
    });

    it('C93 have the exact total right after concurrent additions and deletions', async () => {
      const existing = new Set(await addItems(list, 4));
      for (let round = 1; round <= 3; round += 1) {
        const deleted = [...existing].slice(0, 3);
        const [added, removed] = await Promise.all([
          Promise.all(Array.from({ length: 5 }, () => list.add())),
          Promise.all(deleted.map((id) => list.remove(id))),
        ]);
        expect(removed.map(({ status }) => status)).toEqual([200, 200, 200]);
        for (const id of deleted) existing.delete(id);
        for (const id of added) existing.add(id);
        const page = await readPage(await get('?limit=50'));
        expect(new Set(idsOf(page))).toEqual(existing);
        expect(page.meta.total).toBe(existing.size);
      }
    });
  });

  describe.each([
    ['/posts', 50, 'post'],
    ['/posts/:id/comments', 100, 'cmt'],
  ] as const)('Query parameters of %s', (pattern, maxLimit, prefix) => {
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
        ['abc', '1.5', '0x1', '1e2', ' 1', '+1', '01', '1 ', 'null', 'NaN', '١'].map(
          (value) => [name, value, 'wrong_type'] as const,
        ),
      ),
    ] as const)('C86 reject %s=%s', async (name, value, code) => {
      const response = await get(`${name}=${encodeURIComponent(value)}`);
      await expectFieldErrors(response, `${name} ${code}`);
    });

    it(`C87 accept a limit of 1 to ${maxLimit}`, async () => {
      await expectFieldErrors(await get('limit=0&page=0'), 'page too_small', 'limit too_small');
      await expectFieldErrors(await get('limit=-1'), 'limit too_small');
      await expectFieldErrors(await get(`limit=${maxLimit + 1}`), 'limit too_large');
      for (const limit of [1, maxLimit])
        expect((await readPage(await get(`limit=${limit}`))).meta.limit).toBe(limit);
    });

    it.each(['page', 'limit', 'before'])('C88 reject a repeated %s', async (name) => {
      const value = name === 'before' ? `${prefix}_01kahq5f3veqdr8bn3tdmx3q0a` : '1';
      await expectFieldErrors(await get(`${name}=${value}&${name}=${value}`), `${name} wrong_type`);
    });

    it.each([
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
    ])('reject before=%j', async (value) => {
      const response = await get(`before=${encodeURIComponent(value)}`);
      await expectFieldErrors(response, 'before invalid_format');
    });

    it.each([
      ...['page[]=0', 'page[]=1', 'page[a]=1', 'limit[]=1', 'before[]=x'],
      ...['foo=1', '__proto__=x', 'constructor=x', 'toString=x', '%F0%9F%98%80=%ff', UNKNOWN_NAMES],
      ...['page=', 'before=&page=&limit=', 'page=&page='],
    ])('C88 C95 ignore the other names and the empty values in ?%s', async (query) => {
      const { meta } = await readPage(await get(query));
      expect(meta).toMatchObject({ page: 1, limit: 20 });
    });

    it('C95 are read after a thousand unknown names', async () => {
      expect((await readPage(await get(`${UNKNOWN_NAMES}&page=2&limit=1`))).meta).toMatchObject({
        page: 2,
        limit: 1,
      });
      await expectFieldErrors(await get(`${UNKNOWN_NAMES}&page=0`), 'page too_small');
    });
  });
});
