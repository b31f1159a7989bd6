import { readdir, readFile, writeFile } from 'node:fs/promises';
import { ASSERTIONS } from '../support/assertions.js';
import { proofs, RELIABILITY_PAGE, reliabilityPage } from '../support/reliability-table.js';

interface Manifest {
  scripts: Record<string, string>;
}

describe('The page of what the authorization server promises', () => {
  it('has a test for every rule', async () => {
    const proven = new Set((await proofs()).map(({ number }) => number));
    expect(Object.keys(ASSERTIONS).filter((number) => !proven.has(number))).toEqual([]);
  });

  it('knows the rule of every numbered test', async () => {
    const unknown = (await proofs()).filter(({ number }) => !(number in ASSERTIONS));
    expect(unknown).toEqual([]);
  });

  it('O140 names races that run on servers, and a hundred times with "npm run test:races"', async () => {
    const races = (await readdir('test/e2e/races')).map((file) => `test/e2e/races/${file}`);
    expect(races.length).toBeGreaterThan(4);
    for (const race of races) expect(await readFile(race, 'utf8')).toContain('onEachServer(');
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Manifest;
    expect(manifest.scripts['test:races']).toBe('RACE_ROUNDS=100 vitest run test/e2e/races');
  });

  it('is up to date; "npm run reliability" writes it', async () => {
    const page = await reliabilityPage();
    if (process.env.WRITE_PAGES === '1') await writeFile(RELIABILITY_PAGE, page);
    expect(await readFile(RELIABILITY_PAGE, 'utf8')).toBe(page);
  });
});
