import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { useFolder } from '../../support/folder.js';

const PROGRAM = resolve('dist/tools/generated-docs.js');

/** Runs the program in `folder`. */
function run(folder: string, ...options: string[]): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...options], { cwd: folder }, (error, stdout, stderr) => {
      done({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

describe('Program generated-docs', () => {
  const folder = useFolder();

  it('rejects outdated files, names the command that updates them, and updates them with --write', async () => {
    await mkdir(join(folder, 'docs/operate'), { recursive: true });
    const stale = await run(folder);
    expect(stale.code).toBe(1);
    expect(stale.output).toContain('node dist/tools/generated-docs.js --write');
    expect((await run(folder, '--write')).code).toBe(0);
    expect((await run(folder)).code).toBe(0);
  });
});
