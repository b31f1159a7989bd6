import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where each release stands in the history. */
const COMMITS = { '1.0.0': '858c25897fd1b3e798412e7aabe2a7bfad4bbd1c' } as const;
/** What the build takes over as it is. */
const ASSETS = new Set(['.eta', '.css', '.svg']);
const LONGEST_MS = 110_000;

/** The service as one release had it. */
export interface ReleasedVersion {
  /** Its folder, with its `dist`. */
  readonly folder: string;
  /** Its program that serves. */
  readonly main: string;
}

/**
 * Builds a release from the history, once for all runs on this machine, with the packages that are installed now. Undefined
 * where there is no such history, as in a shallow clone or an archive.
 * @throws the compiler's complaint; with `CI=true`, when there is no such history
 */
export async function releasedVersion(
  release: keyof typeof COMMITS,
): Promise<ReleasedVersion | undefined> {
  const commit = COMMITS[release];
  const known = await run('git', ['cat-file', '-e', `${commit}^{tree}`]).catch(() => undefined);
  if (known === undefined) {
    if (process.env.CI === 'true')
      throw new Error(
        `CI needs the history of this repository, for ${release}: git fetch --unshallow`,
      );
    return undefined;
  }
  const packages = resolve('node_modules');
  const place = createHash('sha256').update(packages).digest('hex').slice(0, 8);
  const folder = join(tmpdir(), `platform-${release}-${commit.slice(0, 8)}-${place}`);
  if (!existsSync(folder)) await build(commit, packages, folder);
  return { folder, main: join(folder, 'dist/src/main.js') };
}

/** Another run may do the same: whoever is first has built it for both. */
async function build(commit: string, packages: string, folder: string): Promise<void> {
  const own = await mkdtemp(`${folder}-`);
  try {
    const archive = join(own, 'archive.tar');
    await run('git', ['archive', '--output', archive, commit]);
    await run('tar', ['-xf', archive, '-C', own]);
    await symlink(packages, join(own, 'node_modules'));
    // It was checked when it was released, with the packages of its time.
    const compile = [
      join(packages, 'typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--noCheck',
    ];
    await run(process.execPath, compile, { cwd: own, timeout: LONGEST_MS });
    await cp(join(own, 'src'), join(own, 'dist/src'), {
      recursive: true,
      filter: async (path) => ASSETS.has(extname(path)) || (await stat(path)).isDirectory(),
    });
    await rename(own, folder);
  } catch (error) {
    await rm(own, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}
