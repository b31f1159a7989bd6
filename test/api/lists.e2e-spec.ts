import { setImmediate as nextTurn } from 'node:timers/promises';
import { User } from '../../src/modules/users/user.entity.js';
import { expectFieldErrors, idsOf, readPage, linksOf } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp, type TestApp } from '../support/test-app.js';
import { Member } from '../support/member.js';

/** One of the two list endpoints of the API. */
interface List {
  readonly member: Member;
  /** Relative to `/dev/v1`. */
  readonly path: string;
  /** Advances the clock by a millisecond and adds an item. Returns the id of the item. */
  add(): Promise<string>;
  remove(id: string): Promise<Response>;
}

function listOf(
  member: Member,
  path: string,
  create: () => Promise<{ id: string }>,
  items: 'posts' | 'comments',
): List {
  return {
    member,
    path,
    add: async () => {
      member.app.clock.advance(1);
      return (await create()).id;
    },
    remove: (id) => member.delete(`/${items}/${id}`),
  };
}

/** The list endpoints by the pattern of their path. */
const LISTS = {
  '/posts': async (app: TestApp): Promise<List> => {
    const member = await Member.join(app);
    return listOf(member, '/posts', () => member.publish(), 'posts');
  },
  '/posts/:id/comments': async (app: TestApp): Promise<List> => {
    const member = await Member.join(app);
    const { id } = await member.publish();
    return listOf(member, `/posts/${id}/comments`, () => member.comment(id), 'comments');
  },
} as const;

const LIST_PATHS = Object.keys(LISTS) as (keyof typeof LISTS)[];

/** Adds `count` items. Returns their ids, newest first. */
async function addItems(list: List, count: number): Promise<string[]> {
  const ids = [];
  for (let item = 1; item <= count; item += 1) ids.unshift(await list.add());
  return ids;
}

const UNKNOWN_NAMES = Array.from({ length: 1000 }, (_, number) => `p${number}=1`).join('&');
const PERMANENT_COUNT = 6;
const REMOVED_COUNT = 3;

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

  describe.each(LIST_PATHS)('Link header of %s', (pattern) => {
    let list: List;
    let ids: string[];
    beforeAll(async () => {
      list = await LISTS[pattern](app());
      ids = await addItems(list, 5);
    });

    const get = (query: string) => list.member.get(`${list.path}${query}`);
    const linksTo = async (query: string) => linksOf(await get(query));
    const urlOf = (query: string) => `${app().baseUrl}/dev/v1${list.path}?${query}`;
    const follow = (link = '') => list.member.get(link.slice(`${app().baseUrl}/dev/v1`.length));

    it('C94 has first, next and last, but no prev, on the first page', async () => {
      const expected = {
        first: urlOf('limit=2'),
        next: urlOf(`page=2&limit=2&before=${ids[1]}`),
        last: urlOf('page=3&limit=2'),
      };
      expect(await linksTo('?limit=2')).toEqual(expected);
      expect(await linksTo('?limit=2&page=1')).toEqual(expected);
    });

    it('C94 has all four relations on a page in the middle', async () => {
      expect(await linksTo('?limit=2&page=2')).toEqual({
        first: urlOf('limit=2'),
        prev: urlOf('page=1&limit=2'),
        next: urlOf(`page=3&limit=2&before=${ids[3]}`),
        last: urlOf('page=3&limit=2'),
      });
    });

    it.each([
      ['the last page, which is not full', '?limit=2&page=3', 2],
      ['the last page, which is full', '?limit=5&page=1', 0],
      ['the only page', '', 0],
      ['a page beyond the end', '?limit=2&page=7', 3],
      ['the highest page number', '?page=1000000', 1],
    ])(
      'C94 has no next, and the nearest earlier page with items as prev, on %s',
      async (_, query, previous) => {
        const limit = /limit=(\d+)/.exec(query)?.[1] ?? '20';
        expect(await linksTo(query)).toEqual({
          first: urlOf(`limit=${limit}`),
          ...(previous > 0 && { prev: urlOf(`page=${previous}&limit=${limit}`) }),
          last: urlOf(`page=${Math.ceil(5 / Number(limit))}&limit=${limit}`),
        });
      },
    );

    it('C94 names page 1 as first and last of an empty list', async () => {
      const empty = await LISTS[pattern](app());
      const response = await empty.member.get(`${empty.path}?limit=3`);
      const url = `${app().baseUrl}/dev/v1${empty.path}`;
      expect(linksOf(response)).toEqual({
        first: `${url}?limit=3`,
        last: `${url}?page=1&limit=3`,
      });
    });

    it('C94 links to the page that each relation names', async () => {
      const { first, prev, next, last } = await linksTo('?limit=2&page=2');
      const pages = await Promise.all([first, prev, next, last].map(follow));
      const [firstPage, prevPage, nextPage, lastPage] = await Promise.all(pages.map(readPage));
      expect([firstPage, prevPage, nextPage, lastPage].map((page) => page && idsOf(page))).toEqual([
        ids.slice(0, 2),
        ids.slice(0, 2),
        ids.slice(4),
        ids.slice(4),
      ]);
      expect(nextPage?.meta).toEqual({ page: 3, limit: 2, total: 5 });
    });

    it('C94 is the same for HEAD, and leaves out unknown query parameters', async () => {
      const query = '?limit=2&page=2&foo=1&page[]=4';
      const head = await app().call(list.member.token, 'HEAD', `${list.path}${query}`);
      expect(linksOf(head)).toEqual(await linksTo('?limit=2&page=2'));
    });

    it('selects the items by before, and uses page only as a number in the response and its links', async () => {
      const response = await get(`?limit=2&page=7&before=${ids[1]}`);
      expect(linksOf(response)).toEqual({
        first: urlOf('limit=2'),
        prev: urlOf('page=3&limit=2'),
        next: urlOf(`page=8&limit=2&before=${ids[3]}`),
        last: urlOf('page=3&limit=2'),
      });
      const page = await readPage(response);
      expect(idsOf(page)).toEqual(ids.slice(2, 4));
      expect(page.meta).toEqual({ page: 7, limit: 2, total: 5 });
      expect((await readPage(await get(`?before=${ids[0]}`))).meta.page).toBe(1);
    });

    it('accepts in the parameter before the id of an unknown item, of a deleted item and of an item of another list', async () => {
      const other = await LISTS[pattern](app());
      const foreign = await other.add();
      const removed = await list.add();
      await list.remove(removed);
      const [prefix] = removed.split('_');
      for (const id of [foreign, removed, `${prefix}_7zzzzzzzzzzzzzzzzzzzzzzzzz`])
        expect(idsOf(await readPage(await get(`?before=${id}`)))).toEqual(ids);
      const oldest = await readPage(await get(`?before=${prefix}_00000000000000000000000000`));
      expect(oldest).toStrictEqual({ data: [], meta: { page: 1, limit: 20, total: 5 } });
    });
  });

  it('contain no page number above the maximum of 1,000,000', async () => {
    const list = await LISTS['/posts'](app());
    const [newest, next] = await addItems(list, 3);
    const { id } = list.member.user;
    const users = app().dataSource.getRepository(User);
    await users.update({ id }, { postCount: 1_000_001 });
    const query = `?limit=1&page=1000000&before=${newest}`;
    const links = linksOf(await list.member.get(`/posts${query}`));
    expect(links).not.toHaveProperty('last');
    expect(links['next']).toMatch(new RegExp(`\\?page=1000000&limit=1&before=${next}$`));
    await users.update({ id }, { postCount: 3 });
  });

  describe.each(LIST_PATHS)('Paging through %s while items are added and deleted', (pattern) => {
    let list: List;
    /** The items that `whileChanging` keeps, newest first. */
    let permanent: string[];
    /** The items that `whileChanging` removes first. */
    let removed: string[];
    beforeEach(async () => {
      list = await LISTS[pattern](app());
      const ids = await addItems(list, PERMANENT_COUNT + REMOVED_COUNT);
      removed = ids.filter((_, index) => index % 3 === 1);
      permanent = ids.filter((id) => !removed.includes(id));
    });

    /** Adds and removes items until `work` ends, at least one of each. */
    async function whileChanging(work: () => Promise<void>): Promise<void> {
      const end = new AbortController();
      const changes = (async () => {
        const added: string[] = [];
        do {
          added.push(await list.add());
          const id = removed.pop() ?? added.shift() ?? '';
          expect((await list.remove(id)).status).toBe(200);
          await nextTurn();
        } while (!end.signal.aborted);
      })();
      await work().finally(() => end.abort());
      await changes;
    }

    it('C90 returns every page by its number, without an item twice on one page', async () => {
      const limit = 3;
      await whileChanging(async () => {
        for (let number = 1; number <= PERMANENT_COUNT + REMOVED_COUNT; number += 1) {
          const response = await list.member.get(`${list.path}?limit=${limit}&page=${number}`);
          const page = await readPage(response);
          expect(page.data.length).toBeLessThanOrEqual(limit);
          expect(new Set(idsOf(page)).size).toBe(page.data.length);
        }
      });
    });

    it.each([1, 4])(
      'C90 returns each remaining item exactly once on the pages of the next links, with a limit of %d',
      async (limit) => {
        const seen: string[] = [];
        const numbers: number[] = [];
        await whileChanging(async () => {
          let next: string | undefined = `${app().baseUrl}/dev/v1${list.path}?limit=${limit}`;
          while (next !== undefined) {
            const response = await list.member.get(next.slice(`${app().baseUrl}/dev/v1`.length));
            const page = await readPage(response);
            seen.push(...idsOf(page));
            numbers.push(page.meta.page);
            ({ next } = linksOf(response));
          }
        });
        expect(seen.filter((id) => permanent.includes(id))).toEqual(permanent);
        expect(new Set(seen).size).toBe(seen.length);
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      },
    );

    it('C90 accepts a next link after the item in its before parameter was deleted and newer items were added', async () => {
      const [newest = '', second = ''] = permanent;
      const { next = '' } = linksOf(await list.member.get(`${list.path}?limit=1`));
      expect(next).toContain(`before=${newest}`);
      for (const id of [newest, ...removed]) await list.remove(id);
      await addItems(list, 2);
      const response = await list.member.get(next.slice(`${app().baseUrl}/dev/v1`.length));
      expect(idsOf(await readPage(response))).toEqual([second]);
    });
  });
});
