import { readFile } from 'node:fs/promises';
import { breakingChanges, isSameContract, type BreakingChange } from './breaking-changes.js';

/** Paths of the files that the release check compares. */
export interface ReleaseFiles {
  /** The current OpenAPI document. */
  current: string;
  /** The document of the newest release. */
  released: string;
  /** The list of accepted breaking changes since that release. */
  acceptedChanges: string;
  changelog: string;
}

/** An entry of `openapi/accepted-changes.json`. */
interface AcceptedChange {
  rule: string;
  path: string;
  reason: string;
}

/**
 * Messages about incompatible changes since the newest release, wrong versions, and wrong entries in the list of accepted
 * changes.
 */
export async function releaseProblems(files: ReleaseFiles): Promise<string[]> {
  const { released, changelog } = files;
  const [version, newest] = [await versionOf(released), await newestRelease(changelog)];
  if (version !== newest)
    return [
      `The newest release in ${changelog} is ${newest}, but ${released} has version ${version}. Run "npm run openapi:release" as part of the release.`,
    ];
  return [
    ...(await versionProblems(files, version)),
    ...(await compatibilityProblems(files, version)),
  ];
}

/** `info.version` of a document. */
export async function versionOf(file: string): Promise<string> {
  const document = JSON.parse(await readFile(file, 'utf8')) as { info: { version: string } };
  return document.info.version;
}

/** The version of the newest release in the changelog. */
export async function newestRelease(changelog: string): Promise<string> {
  const version = /^## (\d+\.\d+\.\d+)\b/m.exec(await readFile(changelog, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${changelog} has no release.`);
  return version;
}

/**
 * If the current document has the version of the release, it must equal the released one, or the changelog must have an
 * `Unreleased` section.
 */
async function versionProblems(files: ReleaseFiles, version: string): Promise<string[]> {
  const { current, released, changelog } = files;
  if ((await versionOf(current)) !== version || (await hasUnreleased(changelog))) return [];
  if (await isSameContract(released, current)) return [];
  return [
    `${current} and ${released} both have version ${version}, but differ. If ${version} is not published yet, run "npm run openapi:release"; otherwise describe the change under "## Unreleased" in ${changelog} or raise the version.`,
  ];
}

async function hasUnreleased(changelog: string): Promise<boolean> {
  const [first] = /^## .*$/m.exec(await readFile(changelog, 'utf8')) ?? [];
  return /^## \[?unreleased\b/i.test(first ?? '');
}

async function compatibilityProblems(files: ReleaseFiles, version: string): Promise<string[]> {
  const accepted = JSON.parse(await readFile(files.acceptedChanges, 'utf8')) as AcceptedChange[];
  const changes = await breakingChanges(files.released, files.current);
  const rejected = changes.filter((change) => !accepted.some((one) => isSame(one, change)));
  const unused = accepted.filter((one) => !changes.some((change) => isSame(one, change)));
  return [
    ...rejected.map(
      ({ rule, path, message }) =>
        `This breaks clients of ${version}: ${message}\n  ${rule} at ${path}\n  Revert the change, or add it to ${files.acceptedChanges} with rule, path and reason.`,
    ),
    ...unused.map(
      ({ rule, path }) =>
        `${files.acceptedChanges} lists a change that does not exist: ${rule} at ${path}. Remove the entry.`,
    ),
    ...accepted
      .filter(({ reason }) => !reason?.trim())
      .map(
        ({ rule, path }) =>
          `${files.acceptedChanges} has no reason for ${rule} at ${path}. Add one.`,
      ),
  ];
}

function isSame(one: { rule: string; path: string }, { rule, path }: BreakingChange): boolean {
  return one.rule === rule && one.path === path;
}
