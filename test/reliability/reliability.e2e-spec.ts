import { readdir, readFile, writeFile } from 'node:fs/promises';
import { comparisons, RELIABILITY_PAGE, reliabilityPage, tests } from './page.js';
import { ASSERTIONS } from './rules.js';

const NUMBERS = ASSERTIONS.flatMap(({ rules }) => Object.keys(rules));
const countedIn = (letter: string) => NUMBERS.filter((number) => number.startsWith(letter));

/** The numbers of the developer API: runs from the first to the last. Those between are not in use. */
const C_RUNS = [
  [1, 114],
  [116, 117],
  [139, 145],
] as const;

/** Races that need no two processes at once behind one public URL, and why. */
const WITHOUT_CLUSTER: Readonly<Record<string, string>> = {
  'conflicts.e2e-spec.ts': 'a trigger makes the database refuse, and counts in the only session',
  'end-of-access.e2e-spec.ts': 'the test itself holds the row that the two would race for',
  'idempotency-killed.e2e-spec.ts': 'one process dies, and the next takes over from it',
  'idempotency.e2e-spec.ts': 'three processes of its own, each called at its own address',
  'interrupted-refresh.e2e-spec.ts': 'one process dies, and the next takes over from it',
  'publish-conflicts.e2e-spec.ts':
    'the test itself is the other unit of work, or a trigger counts in the only session',
  'publish-killed.e2e-spec.ts': 'one process dies, and the next takes over from it',
  'publish.e2e-spec.ts': 'three processes of its own, each called at its own address',
};

/** Tests beside races that are not run in rounds, and why. */
const ONCE: Readonly<Record<string, string>> = {
  'C98 A key that is held for longer than a second is in use, and free again once its unit has ended':
    'holds a row for as long as one request waits',
  'O90 No call fails while the operator rotates and the workers change over one by one':
    'a load on one rotation, which is hundreds of calls',
  'O90 Three commands at once leave two live secrets, one of them with an end':
    'starts three processes for the race that another test runs in rounds',
  'waits for it, and ends the session that it started':
    'stops the sign-in at the one place where it matters',
};
const ON_SERVERS = /\bonEach(Server|Engine)\(/;
const IN_ROUNDS = /\brounds\(|\blength: ROUNDS\b/;
const TEST = /\bit(?:\.each)?\(/;
const TITLE = /['"`](.+)['"`],/;
const CLUSTER = /\buseCluster\(|\bstartCluster\((?!database, 1\))/;

interface Manifest {
  scripts: Record<string, string>;
}

describe('The page of what the platform promises', () => {
  it('numbers its rules from O1 and C1 on, each once and in order', () => {
    const [server, api] = [countedIn('O'), countedIn('C')];
    expect(NUMBERS).toEqual([...server, ...api]);
    expect(server).toEqual(server.map((_, index) => `O${index + 1}`));
    expect(api).toEqual(
      C_RUNS.flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, index) => `C${first + index}`),
      ),
    );
  });

  it('has a test for every rule', async () => {
    const proven = new Set((await tests()).map(({ number }) => number));
    expect(NUMBERS.filter((number) => !proven.has(number))).toEqual([]);
  });

  it('knows the rule of every numbered test and row of the oracle', async () => {
    const numbered = [...(await tests()), ...(await comparisons())];
    expect(numbered.filter(({ number }) => !NUMBERS.includes(number))).toEqual([]);
  });

  it('O140 names races that run on servers in two processes, and a hundred times with "npm run test:races"', async () => {
    const races = await readdir('test/system/races');
    expect(races.length).toBeGreaterThan(4);
    const alone: string[] = [];
    const once: string[] = [];
    for (const race of races) {
      const source = await readFile(`test/system/races/${race}`, 'utf8');
      expect(source, race).toMatch(ON_SERVERS);
      if (!CLUSTER.test(source)) alone.push(race);
      const [, ...cases] = source.split(TEST);
      const single = cases.filter((each) => !IN_ROUNDS.test(each));
      once.push(...single.map((each) => TITLE.exec(each)?.[1] ?? race));
    }
    expect(alone.toSorted()).toEqual(Object.keys(WITHOUT_CLUSTER));
    expect(once.toSorted()).toEqual(Object.keys(ONCE));
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Manifest;
    expect(manifest.scripts['test:races']).toBe(
      'RACE_ROUNDS=100 TEST_SUITE=system vitest run test/system/races',
    );
  });

  it('is up to date; "npm run reliability" writes it', async () => {
    const page = await reliabilityPage();
    if (process.env.WRITE_PAGES === '1') await writeFile(RELIABILITY_PAGE, page);
    expect(await readFile(RELIABILITY_PAGE, 'utf8')).toBe(page);
  });
});
