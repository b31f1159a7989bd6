import { readdir, readFile, writeFile } from 'node:fs/promises';
import { comparisonCases, RELIABILITY_PAGE, reliabilityPage, ruleNumbers, tests } from './page.js';

/** A heading of rules with their numbers, such as `## Rate limits (O126–O132, O134)`, and the rest of its section. */
const SECTION = /^## .*\(([OC]\d[^)]*)\)$((?:\n(?!## ).*)*)/gm;

/** The numbers of `O126–O132, O134`. */
function numbersOf(ranges: string): string[] {
  return ranges.split(', ').flatMap((range) => {
    const [first, last] = (range.match(/\d+/g) ?? []).map(Number) as [number, number?];
    return Array.from(
      { length: (last ?? first) - first + 1 },
      (_, index) => `${range[0]}${first + index}`,
    );
  });
}

/** Files of races that do not need two processes behind one public URL, with the reason. */
const WITHOUT_CLUSTER: Readonly<Record<string, string>> = {
  'conflicts.e2e-spec.ts':
    'the test itself is the other transaction, or a trigger counts the attempts in a session variable, which other connections cannot see',
  'idempotency-killed.e2e-spec.ts': 'one process is killed, and the next takes over',
  'interrupted-refresh.e2e-spec.ts': 'one process is killed, and the next takes over',
  'revocation-during-sign-in.e2e-spec.ts': 'the test itself locks the row',
  'secret-rotation.e2e-spec.ts': 'operators rotate with commands, which are processes of their own',
};

/** Tests of races that run once, with the reason. */
const RUN_ONCE: Readonly<Record<string, string>> = {
  'C98 returns 409 for a key that is locked for more than a second, until its transaction ends':
    'locks a row while one request waits',
  'O90 leaves two valid secrets, one of them with an expiry, after three commands at once':
    'starts three processes for a race that another test repeats',
  'waits for the sign-in, then ends the session that the sign-in created':
    'stops the sign-in at the critical statement',
};
/** Patterns in the source of a race. A cluster of one process does not count. */
const ON_SERVERS = /\bonEach(Server|Engine)\(/;
const IN_ROUNDS = /\brounds\(/;
const TEST = /\bit(?:\.each)?\(/;
const TITLE = /['"`](.+)['"`],/;
const CLUSTER = /\buseCluster\(|\bstartCluster\((?!database, \{ processes: 1 \}\))/;

interface Manifest {
  scripts: Record<string, string>;
}

describe('docs/reliability.md', () => {
  // The number of a deleted rule is never reused: its heading leaves it out.
  it('has the rules that its headings announce, in order, without duplicates', async () => {
    const page = await readFile(RELIABILITY_PAGE, 'utf8');
    const announced = [...page.matchAll(SECTION)].map(([, ranges = '']) => numbersOf(ranges));
    expect(announced.length).toBeGreaterThan(20);
    const sections = [...page.matchAll(SECTION)].map(([, , rows = '']) =>
      [...rows.matchAll(/^\| ([OC]\d+) \|/gm)].map(([, number = '']) => number),
    );
    expect(sections).toEqual(announced);
    expect(await ruleNumbers()).toEqual(sections.flat());
    expect(new Set(sections.flat()).size).toBe(sections.flat().length);
  });

  it('has a test for every rule', async () => {
    const proven = new Set((await tests()).map(({ number }) => number));
    expect((await ruleNumbers()).filter((number) => !proven.has(number))).toEqual([]);
  });

  it('has a rule for every numbered test and every case of the comparison with oidc-provider', async () => {
    const numbers = await ruleNumbers();
    const numbered = [...(await tests()), ...(await comparisonCases())];
    expect(numbered.filter(({ number }) => !numbers.includes(number))).toEqual([]);
  });

  it('names an existing rule for every promise to partners', async () => {
    const page = await readFile(RELIABILITY_PAGE, 'utf8');
    const [, promises = ''] = /^## What an app can rely on$([\s\S]*?)^## /m.exec(page) ?? [];
    const numbers = await ruleNumbers();
    const items = promises.split('\n').filter((line) => line.startsWith('- '));
    expect(items.length).toBeGreaterThan(60);
    for (const item of items) {
      const named = [...item.matchAll(/\(([OC]\d[^)]*)\)/g)].flatMap(([, list = '']) =>
        numbersOf(list),
      );
      expect([item, named.length > 0 && named.every((number) => numbers.includes(number))]).toEqual(
        [item, true],
      );
    }
  });

  it('has the results of every test of faults', async () => {
    const page = await reliabilityPage();
    const files = await readdir('test/faults', { recursive: true });
    const specs = files.filter((file) => file.endsWith('-spec.ts'));
    expect(specs.filter((file) => !page.includes(`](../test/faults/${file}) |`))).toEqual([]);
  });

  it('O140 runs races on database servers with two processes of the service, and a hundred rounds in "npm run test:races", except for those listed here', async () => {
    const races = await readdir('test/system/races');
    expect(races.length).toBeGreaterThan(4);
    const withoutCluster: string[] = [];
    const runOnce: string[] = [];
    for (const race of races) {
      const source = await readFile(`test/system/races/${race}`, 'utf8');
      expect(source, race).toMatch(ON_SERVERS);
      if (!CLUSTER.test(source)) withoutCluster.push(race);
      const [, ...cases] = source.split(TEST);
      const unrepeated = cases.filter((each) => !IN_ROUNDS.test(each));
      runOnce.push(...unrepeated.map((each) => TITLE.exec(each)?.[1] ?? race));
    }
    expect(withoutCluster.toSorted()).toEqual(Object.keys(WITHOUT_CLUSTER));
    expect(runOnce.toSorted()).toEqual(Object.keys(RUN_ONCE));
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Manifest;
    expect(manifest.scripts['test:races']).toBe(
      'RACE_ROUNDS=100 TEST_SUITE=system vitest run test/system/races',
    );
  });

  it('is current; "npm run reliability" writes it', async () => {
    const page = await reliabilityPage();
    if (process.env.WRITE_PAGES === '1') await writeFile(RELIABILITY_PAGE, page);
    expect(await readFile(RELIABILITY_PAGE, 'utf8')).toBe(page);
  });
});
