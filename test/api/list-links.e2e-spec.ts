import { setImmediate as nextTurn } from 'node:timers/promises';
import { User } from '../../src/modules/users/user.entity.js';
import {
  addItems,
  idsOf,
  linksOf,
  type List,
  LIST_PATHS,
  LISTS,
  readPage,
} from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const PERMANENT_COUNT = 6;
const REMOVED_COUNT = 3;

interface Operation {
  parameters: { name: string; description?: string }[];
  responses: Record<string, { headers?: Record<string, { description?: string }> }>;
}

onOneEngine('Pagination links', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

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

  it.each(LIST_PATHS)(
    'C90 documents for %s that pages by number may repeat items, and next as the alternative',
    async (pattern) => {
      const document = await json<{
        paths: Record<string, { get: Operation }>;
      }>(await app().fetch('/openapi.json'));
      const operation = document.paths[`/dev/v1${pattern.replace(':id', '{id}')}`]?.get;
      const described = (name: string) =>
        operation?.parameters.find((parameter) => parameter.name === name)?.description;
      expect(described('page')).toMatch(/repeat or skip.*`next`.*`Link`/s);
      expect(described('before')).toMatch(/the item that follows it/);
      expect(operation?.responses['200']?.headers?.['Link']?.description).toMatch(/exactly once/);
    },
  );
});
