import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { configurationTable, envExample } from '../../../tools/env-example.js';

const PROGRAM = resolve('dist/tools/env-example.js');

/** Runs the program in `folder`. */
function run(folder: string, ...options: string[]): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...options], { cwd: folder }, (error, stdout, stderr) => {
      done({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

describe('Program env-example', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-env-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('rejects outdated files, names the command that updates them, and updates them with --write', async () => {
    await writeFile(
      join(folder, 'README.md'),
      '# A\n\n<!-- configuration -->\n<!-- /configuration -->\n\nB\n',
    );
    const stale = await run(folder);
    expect(stale.code).toBe(1);
    expect(stale.output).toContain('node dist/tools/env-example.js --write');
    expect((await run(folder, '--write')).code).toBe(0);
    expect((await run(folder)).code).toBe(0);
    const readme = await readFile(join(folder, 'README.md'), 'utf8');
    expect(readme).toBe(`# A\n\n${configurationTable()}\n\nB\n`);
    expect(await readFile(join(folder, '.env.example'), 'utf8')).toBe(envExample());
  });
});
