import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BreakingChange, breakingChanges } from '../../src/bin/breaking-changes.js';
import { ADDITIVE, BREAKING, type Change } from './breaking-changes.js';

describe('Between two documents', () => {
  let folder: string;
  const older = 'openapi/openapi.json';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-openapi-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function after(...changes: Change[]): Promise<BreakingChange[]> {
    const document = JSON.parse(await readFile(older, 'utf8')) as Parameters<Change>[0];
    for (const change of changes) change(document);
    const newer = join(folder, `${changes.length}.json`);
    await writeFile(newer, JSON.stringify(document));
    return breakingChanges(older, newer);
  }

  it('that are the same, nothing breaks', async () => {
    expect(await after()).toEqual([]);
  });

  describe('these break clients:', () => {
    let found: BreakingChange[];
    beforeAll(async () => {
      found = await after(...BREAKING.map(([, , , change]) => change));
    });

    it.each(BREAKING)('%s', (_, rule, place) => {
      const noticed = found.filter((change) => change.rule === rule && place.test(change.path));
      expect(noticed.length, JSON.stringify(found, null, 1)).toBeGreaterThan(0);
      expect(noticed[0]?.message).toMatch(/\S{2,}/);
    });
  });

  it(`these do not: ${ADDITIVE.map(([name]) => name).join(', ')}`, async () => {
    expect(await after(...ADDITIVE.map(([, change]) => change))).toEqual([]);
  });
});
