import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useFolder } from '../../support/folder.js';
import { type BreakingChange, breakingChanges } from '../../../tools/breaking-changes.js';
import { ADDITIVE, BREAKING, type Edit } from './sample-changes.js';

describe('Breaking changes between two OpenAPI documents', () => {
  const folder = useFolder();
  const older = 'openapi/openapi.json';

  async function changesAfter(...edits: Edit[]): Promise<BreakingChange[]> {
    const document = JSON.parse(await readFile(older, 'utf8')) as Parameters<Edit>[0];
    for (const edit of edits) edit(document);
    const newer = join(folder, `${edits.length}.json`);
    await writeFile(newer, JSON.stringify(document));
    return breakingChanges(older, newer);
  }

  it('are none when the documents are equal', async () => {
    expect(await changesAfter()).toEqual([]);
  });

  describe('include', () => {
    let found: BreakingChange[];
    beforeAll(async () => {
      found = await changesAfter(...BREAKING.map(([, , , edit]) => edit));
    });

    it.each(BREAKING)('%s', (_, rule, path) => {
      const matches = found.filter((change) => change.rule === rule && path.test(change.path));
      expect(matches.length, JSON.stringify(found, null, 1)).toBeGreaterThan(0);
      expect(matches[0]?.message).toMatch(/\S{2,}/);
    });
  });

  it(`do not include: ${ADDITIVE.map(([name]) => name).join(', ')}`, async () => {
    expect(await changesAfter(...ADDITIVE.map(([, edit]) => edit))).toEqual([]);
  });
});
