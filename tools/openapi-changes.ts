import { copyFile, writeFile } from 'node:fs/promises';
import { newestRelease, releaseProblems, versionOf, type ReleaseFiles } from './release-check.js';

const FILES: ReleaseFiles = {
  current: 'openapi/openapi.json',
  released: 'openapi/released.json',
  acceptedChanges: 'openapi/accepted-changes.json',
  changelog: 'CHANGELOG.md',
};

/**
 * Fails if the current document breaks clients of the released one. With `--release`, replaces the released document by the
 * current one.
 */
async function main(): Promise<void> {
  if (process.argv.includes('--release')) await release(FILES);
  else await check(FILES);
}

async function check(files: ReleaseFiles): Promise<void> {
  const problems = await releaseProblems(files);
  for (const problem of problems) fail(problem);
  if (problems.length === 0)
    console.log(`${files.current} is compatible with ${await versionOf(files.released)}.`);
}

async function release({
  current,
  released,
  acceptedChanges,
  changelog,
}: ReleaseFiles): Promise<void> {
  const [version, newest] = [await versionOf(current), await newestRelease(changelog)];
  if (version !== newest) {
    fail(
      `The newest release in ${changelog} is ${newest}, but ${current} has version ${version}. Set VERSION in src/platform/version.ts.`,
    );
    return;
  }
  await copyFile(current, released);
  await writeFile(acceptedChanges, '[]\n');
  console.log(`Updated ${released} to ${version}.`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

await main();
