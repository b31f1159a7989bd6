import { execFile } from 'node:child_process';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Written after a build that succeeded, with the time of its begin, and removed by the next one together with the rest of `dist`. */
const MARK = 'dist/.built';
const SOURCES = [
  'src',
  'docs/integrate.md',
  'ormconfig.ts',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'rolldown.config.ts',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Builds `dist` unless it is newer than every source. Answers the compiler's complaint, or null. */
export async function buildOnce(): Promise<string | null> {
  if ((await modified(MARK)) > (await newest(SOURCES))) return null;
  const begun = new Date();
  const complaint = await build();
  if (complaint === null) {
    await writeFile(MARK, '');
    await utimes(MARK, begun, begun);
  }
  return complaint;
}

function build(): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '-s', 'build'], (error, stdout, stderr) => {
      resolve(error === null ? null : `The build failed, so there is no dist:\n${stdout}${stderr}`);
    });
  });
}

async function newest(paths: string[]): Promise<number> {
  const times = await Promise.all(
    paths.map(async (path) => {
      const entries = await readdir(path, { recursive: true }).catch(() => []);
      return Math.max(
        await modified(path),
        ...(await Promise.all(entries.map((entry) => modified(join(path, entry))))),
      );
    }),
  );
  return Math.max(...times);
}

async function modified(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
