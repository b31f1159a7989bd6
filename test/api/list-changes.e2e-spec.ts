import { setImmediate as soon } from 'node:timers/promises';
import { fill, idsOf, linksOf, type List, LIST_PATHS, LISTS, pageIn } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const STAYING = 12;
const LEAVING = 6;

interface Operation {
  parameters: { name: string; description?: string }[];
  responses: Record<string, { headers?: Record<string, { description?: string }> }>;
}

onOneEngine('Walking a list that changes', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  describe.each(LIST_PATHS)('%s', (pattern) => {
    let list: List;
    /** Newest first, each other one of those that leave between two that stay. */
    let staying: string[];
    let leaving: string[];
    beforeEach(async () => {
      list = await LISTS[pattern](app());
      const ids = await fill(list, STAYING + LEAVING);
      leaving = ids.filter((_, place) => place % 3 === 1);
      staying = ids.filter((id) => !leaving.includes(id));
    });

    /** Adds and removes for as long as `work` takes, and at least once each. */
    async function whileChanging(work: () => Promise<void>): Promise<void> {
      const end = new AbortController();
      const changes = (async () => {
        const mine: string[] = [];
        do {
          mine.push(await list.add());
          const gone = leaving.pop() ?? mine.shift() ?? '';
          expect((await list.remove(gone)).status).toBe(200);
          await soon();
        } while (!end.signal.aborted);
      })();
      await work().finally(() => end.abort());
      await changes;
    }

    it.each([1, 4])(
      'C90 By the numbers of %d items a page, every page answers and repeats nothing in itself',
      async (limit) => {
        await whileChanging(async () => {
          for (let number = 1; number <= STAYING + LEAVING; number += 1) {
            const answer = await list.member.get(`${list.path}?limit=${limit}&page=${number}`);
            const page = await pageIn(answer);
            expect(page.data.length).toBeLessThanOrEqual(limit);
            expect(new Set(idsOf(page)).size).toBe(page.data.length);
          }
        });
      },
    );

    it.each([1, 4])(
      'C90 By the next links of %d items a page, what stays is read once, and nothing twice',
      async (limit) => {
        const seen: string[] = [];
        const numbers: number[] = [];
        await whileChanging(async () => {
          let next: string | undefined = `${app().baseUrl}/dev/v1${list.path}?limit=${limit}`;
          while (next !== undefined) {
            const answer = await list.member.get(next.slice(`${app().baseUrl}/dev/v1`.length));
            const page = await pageIn(answer);
            seen.push(...idsOf(page));
            numbers.push(page.meta.page);
            ({ next } = linksOf(answer));
          }
        });
        expect(seen.filter((id) => staying.includes(id))).toEqual(staying);
        expect(new Set(seen).size).toBe(seen.length);
        expect(numbers).toEqual(numbers.map((_, place) => place + 1));
      },
    );

    it('C90 A next link holds when the item that it follows is gone, and newer ones have come', async () => {
      const [newest = '', second = ''] = staying;
      const { next = '' } = linksOf(await list.member.get(`${list.path}?limit=1`));
      expect(next).toContain(`before=${newest}`);
      for (const id of [newest, ...leaving]) await list.remove(id);
      await fill(list, 2);
      const page = await list.member.get(next.slice(`${app().baseUrl}/dev/v1`.length));
      expect(idsOf(await pageIn(page))).toEqual([second]);
    });

    it('C90 The document says that pages by number may repeat, and what to follow instead', async () => {
      const document = await json<{
        paths: Record<string, { get: Operation }>;
      }>(await app().fetch('/openapi.json'));
      const operation = document.paths[`/dev/v1${pattern.replace(':id', '{id}')}`]?.get;
      const described = (name: string) =>
        operation?.parameters.find((parameter) => parameter.name === name)?.description;
      expect(described('page')).toMatch(/repeat or skip.*`next`.*`Link`/s);
      expect(described('before')).toMatch(/those that follow it/);
      expect(operation?.responses['200']?.headers?.['Link']?.description).toMatch(/exactly once/);
    });
  });
});
