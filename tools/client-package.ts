import { execFile } from 'node:child_process';
import { chmod, cp, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CLIENT_PACKAGE } from '../src/docs/served-files.js';

const run = promisify(execFile);

const SOURCE = 'clients/typescript';
/** A copy, so that the package contains no output of an earlier build. */
const COPY = 'dist/client';

/**
 * Compiles the TypeScript client and packs it for npm, without network. The same sources result in the same file, whose hash is in the
 * lock files of partners. The working directory is the root of the repository.
 */
export async function packClient(): Promise<void> {
  for (const file of ['package.json', 'README.md', 'LICENSE'])
    await cp(join(SOURCE, file), join(COPY, file));
  // `npm run check` checks the types, which would double the time.
  const compile = ['-p', SOURCE, '--noCheck', '--outDir', join(COPY, 'dist')];
  await run('node_modules/.bin/tsc', compile);
  // The package contains the modes, which depend on the umask.
  for (const file of await readdir(COPY, { recursive: true, withFileTypes: true }))
    if (file.isFile()) await chmod(join(file.parentPath, file.name), 0o644);
  const target = join('dist', CLIENT_PACKAGE);
  const folder = dirname(target);
  const pack = ['pack', `./${COPY}`, '--ignore-scripts', '--offline', '--silent'];
  const { stdout } = await run('npm', [...pack, '--pack-destination', folder]);
  await rename(join(folder, stdout.trim()), target);
}
