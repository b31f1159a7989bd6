import { readFile, writeFile } from 'node:fs/promises';
import { LICENCES_PAGE, licencesPage } from '../support/shipped-packages.js';

describe('Page of licences', () => {
  it('lists every shipped package; "WRITE_PAGES=1 npx vitest run test/docs/licences" updates it', async () => {
    const page = await licencesPage();
    if (process.env.WRITE_PAGES === '1') await writeFile(LICENCES_PAGE, page);
    expect(await readFile(LICENCES_PAGE, 'utf8')).toBe(page);
  });
});
