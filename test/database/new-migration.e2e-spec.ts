import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const FOLDER = 'src/platform/database/migrations';

describe('npm run db:new', () => {
  it('adds the migration as the last element of the list, in our format', () => {
    const copy = mkdtempSync(join(tmpdir(), 'new-migration-'));
    try {
      cpSync(`${FOLDER}/list.ts`, join(copy, FOLDER, 'list.ts'));
      const tool = resolve('tools/new-migration.js');
      const { status } = spawnSync(process.execPath, [tool, 'AddPostLanguage'], { cwd: copy });
      expect(status).toBe(0);

      const written = readdirSync(join(copy, FOLDER)).find((name) => name !== 'list.ts') ?? '';
      expect(written).toMatch(/^\d{13}-AddPostLanguage\.ts$/);
      const name = `AddPostLanguage${written.slice(0, 13)}`;
      const before = readFileSync(`${FOLDER}/list.ts`, 'utf8');
      expect(readFileSync(join(copy, FOLDER, 'list.ts'), 'utf8')).toBe(
        before
          .replace('\n\n', `\nimport { ${name} } from './${written.replace(/ts$/, 'js')}';\n\n`)
          .replace(',\n];', `,\n  ${name},\n];`),
      );
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});
