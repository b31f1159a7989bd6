import { User } from '../../src/modules/users/user.entity.js';
import { fill, idsOf, linksOf, type List, LIST_PATHS, LISTS, pageIn } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { skipCountCheck } from '../support/invariants.js';
import { getRaw } from '../support/raw-request.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('The links of a list', (database) => {
  skipCountCheck(database);
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  describe.each(LIST_PATHS)('%s', (pattern) => {
    let list: List;
    let ids: string[];
    beforeAll(async () => {
      list = await LISTS[pattern](app());
      ids = await fill(list, 5);
    });

    const get = (query: string) => list.member.get(`${list.path}${query}`);
    const linksTo = async (query: string) => linksOf(await get(query));
    const address = (query: string) => `${app().baseUrl}/dev/v1${list.path}?${query}`;
    const follow = (link = '') => list.member.get(link.slice(`${app().baseUrl}/dev/v1`.length));

    it('C94 On the first page: first, next and last, but no prev', async () => {
      const wanted = {
        first: address('limit=2'),
        next: address(`page=2&limit=2&before=${ids[1]}`),
        last: address('page=3&limit=2'),
      };
      expect(await linksTo('?limit=2')).toEqual(wanted);
      expect(await linksTo('?limit=2&page=1')).toEqual(wanted);
    });

    it('C94 Between: all four', async () => {
      expect(await linksTo('?limit=2&page=2')).toEqual({
        first: address('limit=2'),
        prev: address('page=1&limit=2'),
        next: address(`page=3&limit=2&before=${ids[3]}`),
        last: address('page=3&limit=2'),
      });
    });

    it.each([
      ['on the last page, which is not full', '?limit=2&page=3', 2],
      ['on the last page, which is full', '?limit=5&page=1', 0],
      ['on the only page', '', 0],
      ['beyond the end', '?limit=2&page=7', 3],
      ['at the last page that there can be', '?page=1000000', 1],
    ])(
      'C94 There is no next %s, and prev is the nearest page before that holds something',
      async (_, query, previous) => {
        const limit = /limit=(\d+)/.exec(query)?.[1] ?? '20';
        expect(await linksTo(query)).toEqual({
          first: address(`limit=${limit}`),
          ...(previous > 0 && { prev: address(`page=${previous}&limit=${limit}`) }),
          last: address(`page=${Math.ceil(5 / Number(limit))}&limit=${limit}`),
        });
      },
    );

    it('C94 An empty list is its own first and last page', async () => {
      const empty = await LISTS[pattern](app());
      const answer = await empty.member.get(`${empty.path}?limit=3`);
      const its = `${app().baseUrl}/dev/v1${empty.path}`;
      expect(linksOf(answer)).toEqual({
        first: `${its}?limit=3`,
        last: `${its}?page=1&limit=3`,
      });
    });

    it('C94 Every link leads to the page that it promises', async () => {
      const { first, prev, next, last } = await linksTo('?limit=2&page=2');
      const pages = await Promise.all([first, prev, next, last].map(follow));
      const [begin, before, after, end] = await Promise.all(pages.map(pageIn));
      expect([begin, before, after, end].map((page) => page && idsOf(page))).toEqual([
        ids.slice(0, 2),
        ids.slice(0, 2),
        ids.slice(4),
        ids.slice(4),
      ]);
      expect(after?.meta).toEqual({ page: 3, limit: 2, total: 5 });
    });

    it('C94 HEAD tells the same links; what else was in the query is not passed on', async () => {
      const query = '?limit=2&page=2&foo=1&page[]=4';
      const head = await app().fetch(`/dev/v1${list.path}${query}`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${list.member.token}` },
      });
      expect(linksOf(head)).toEqual(await linksTo('?limit=2&page=2'));
    });

    it('C94 C24 Links begin with the public URL, whatever host the caller names', async () => {
      const answer = await getRaw(address('limit=2'), [
        ...['Host', 'evil.example', 'X-Forwarded-Host', 'evil.example'],
        ...['X-Forwarded-Proto', 'https', 'Authorization', `Bearer ${list.member.token}`],
      ]);
      expect(linksOf(answer)).toEqual(await linksTo('?limit=2'));
    });

    it('before reads what follows an id, and page only labels it', async () => {
      const answer = await get(`?limit=2&page=7&before=${ids[1]}`);
      expect(linksOf(answer)).toEqual({
        first: address('limit=2'),
        prev: address('page=3&limit=2'),
        next: address(`page=8&limit=2&before=${ids[3]}`),
        last: address('page=3&limit=2'),
      });
      const page = await pageIn(answer);
      expect(idsOf(page)).toEqual(ids.slice(2, 4));
      expect(page.meta).toEqual({ page: 7, limit: 2, total: 5 });
      expect((await pageIn(await get(`?before=${ids[0]}`))).meta.page).toBe(1);
    });

    it('before may be an id that nobody has, is deleted, or is in another list', async () => {
      const other = await LISTS[pattern](app());
      const foreign = await other.add();
      const removed = await list.add();
      await list.remove(removed);
      const [prefix] = removed.split('_');
      for (const id of [foreign, removed, `${prefix}_7zzzzzzzzzzzzzzzzzzzzzzzzz`])
        expect(idsOf(await pageIn(await get(`?before=${id}`)))).toEqual(ids);
      const oldest = await pageIn(await get(`?before=${prefix}_00000000000000000000000000`));
      expect(oldest).toStrictEqual({ data: [], meta: { page: 1, limit: 20, total: 5 } });
    });
  });

  it('name no page that could not be asked for', async () => {
    const list = await LISTS['/posts'](app());
    const [newest, next] = await fill(list, 3);
    const { id } = list.member.user;
    await app().dataSource.getRepository(User).update({ id }, { postCount: 1_000_001 });
    const query = `?limit=1&page=1000000&before=${newest}`;
    const links = linksOf(await list.member.get(`/posts${query}`));
    expect(links).not.toHaveProperty('last');
    expect(links['next']).toMatch(new RegExp(`\\?page=1000000&limit=1&before=${next}$`));
  });
});
