import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { breakingChanges, type BreakingChange } from './breaking-changes.js';

const CURRENT = 'openapi/openapi.json';
const RELEASED = 'openapi/released.json';
const ACCEPTED = 'openapi/accepted-changes.json';
const CHANGELOG = 'CHANGELOG.md';

/** A breaking change that was decided on, with the reason. */
interface Accepted {
  rule: string;
  path: string;
  reason: string;
}

/** Fails when the document breaks what was released; with `--release`, makes the current document the released one. */
async function main(): Promise<void> {
  if (process.argv.includes('--release')) await release();
  else await check();
}

async function check(): Promise<void> {
  const [released, newest] = [await versionOf(RELEASED), await newestRelease()];
  if (released !== newest) {
    fail(
      `The newest release in ${CHANGELOG} is ${newest}, but ${RELEASED} is of ${released}. Run "npm run openapi:release" when you release.`,
    );
    return;
  }
  const accepted = JSON.parse(await readFile(ACCEPTED, 'utf8')) as Accepted[];
  const changes = await breakingChanges(RELEASED, CURRENT);
  const refused = changes.filter((change) => !accepted.some((one) => isSame(one, change)));
  const unused = accepted.filter((one) => !changes.some((change) => isSame(one, change)));
  for (const { rule, path, message } of refused)
    fail(
      `Since ${released}, this breaks clients: ${message}\n  ${rule} at ${path}\n  Take it back, or accept it in ${ACCEPTED} with rule, path and reason.`,
    );
  for (const { rule, path } of unused)
    fail(`${ACCEPTED} accepts what did not happen: ${rule} at ${path}. Remove it.`);
  for (const { rule, path, reason } of accepted)
    if (!reason?.trim()) fail(`${ACCEPTED} gives no reason for ${rule} at ${path}.`);
  if (process.exitCode === undefined)
    console.log(`${CURRENT} breaks nothing that ${released} promised.`);
}

async function release(): Promise<void> {
  const [current, newest] = [await versionOf(CURRENT), await newestRelease()];
  if (current !== newest) {
    fail(
      `The newest release in ${CHANGELOG} is ${newest}, but ${CURRENT} says ${current}. Set VERSION in src/operations/docs/openapi-document.ts.`,
    );
    return;
  }
  await copyFile(CURRENT, RELEASED);
  await writeFile(ACCEPTED, '[]\n');
  console.log(`${RELEASED} is ${current} now.`);
}

async function versionOf(file: string): Promise<string> {
  const document = JSON.parse(await readFile(file, 'utf8')) as { info: { version: string } };
  return document.info.version;
}

async function newestRelease(): Promise<string> {
  const version = /^## (\d+\.\d+\.\d+)\b/m.exec(await readFile(CHANGELOG, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${CHANGELOG} has no release.`);
  return version;
}

function isSame(one: { rule: string; path: string }, { rule, path }: BreakingChange): boolean {
  return one.rule === rule && one.path === path;
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

await main();
