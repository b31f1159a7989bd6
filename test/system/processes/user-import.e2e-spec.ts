import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { onOneEngine } from '../../support/database.js';

interface ImportResult {
  lines: number;
  added: number;
}

onOneEngine('Command "user import" in two processes', (database) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-import-'));
    await new CommandLine(database).run('db', 'migrate');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('adds each user once when it runs twice at the same time', { timeout: 60_000 }, async () => {
    const lines = Array.from(
      { length: 1500 },
      (_, index) => `+1415777${1000 + index},Person ${index}`,
    );
    const path = join(folder, 'users.csv');
    await writeFile(path, ['phone,name', ...lines, ''].join('\n'));
    const cli = new CommandLine(database, runCommandProcess);
    const runs = await Promise.all([0, 1].map(() => cli.run('user', 'import', path, '--json')));
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      [0, 1].map(() => ({ code: 0, stderr: '' })),
    );
    const results = runs.map(({ stdout }) => JSON.parse(stdout) as ImportResult);
    expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(1500);
    expect(results.map(({ lines: read }) => read)).toEqual([1500, 1500]);
  });
});
