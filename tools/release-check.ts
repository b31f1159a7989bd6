import { readFile } from 'node:fs/promises';
import { breakingChanges, promiseTheSame, type BreakingChange } from './breaking-changes.js';

/** The files that tell what was released and what is there now. */
export interface ReleaseFiles {
  /** The document as the service serves it. */
  current: string;
  /** That of the newest release. */
  released: string;
  /** Breaking changes since then that were decided on. */
  accepted: string;
  changelog: string;
}

/** A breaking change that was decided on, with the reason. */
interface Accepted {
  rule: string;
  path: string;
  reason: string;
}

/** What is wrong with the document beside that of the newest release, each as a text; none when every promise is kept. */
export async function releaseProblems(files: ReleaseFiles): Promise<string[]> {
  const { released, changelog } = files;
  const [version, newest] = [await versionOf(released), await newestRelease(changelog)];
  if (version !== newest)
    return [
      `The newest release in ${changelog} is ${newest}, but ${released} is of ${version}. Run "npm run openapi:release" when you release.`,
    ];
  return [...(await staleness(files, version)), ...(await breaks(files, version))];
}

/** The version that a document says it has. */
export async function versionOf(file: string): Promise<string> {
  const document = JSON.parse(await readFile(file, 'utf8')) as { info: { version: string } };
  return document.info.version;
}

/** The version of the newest release that the changelog tells of. */
export async function newestRelease(changelog: string): Promise<string> {
  const version = /^## (\d+\.\d+\.\d+)\b/m.exec(await readFile(changelog, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${changelog} has no release.`);
  return version;
}

/** Where nothing is unreleased, the document of a version is the one that was released as it. */
async function staleness(files: ReleaseFiles, version: string): Promise<string[]> {
  const { current, released, changelog } = files;
  if ((await versionOf(current)) !== version || (await hasUnreleased(changelog))) return [];
  if (await promiseTheSame(released, current)) return [];
  return [
    `${current} and ${released} are both of ${version}, and differ. While ${version} is not published, run "npm run openapi:release". Else tell of the change in ${changelog}, in a part "## Unreleased", or raise the version.`,
  ];
}

async function hasUnreleased(changelog: string): Promise<boolean> {
  const [first] = /^## .*$/m.exec(await readFile(changelog, 'utf8')) ?? [];
  return /^## \[?unreleased\b/i.test(first ?? '');
}

async function breaks(files: ReleaseFiles, version: string): Promise<string[]> {
  const accepted = JSON.parse(await readFile(files.accepted, 'utf8')) as Accepted[];
  const changes = await breakingChanges(files.released, files.current);
  const refused = changes.filter((change) => !accepted.some((one) => isSame(one, change)));
  const unused = accepted.filter((one) => !changes.some((change) => isSame(one, change)));
  return [
    ...refused.map(
      ({ rule, path, message }) =>
        `Since ${version}, this breaks clients: ${message}\n  ${rule} at ${path}\n  Take it back, or accept it in ${files.accepted} with rule, path and reason.`,
    ),
    ...unused.map(
      ({ rule, path }) =>
        `${files.accepted} accepts what did not happen: ${rule} at ${path}. Remove it.`,
    ),
    ...accepted
      .filter(({ reason }) => !reason?.trim())
      .map(({ rule, path }) => `${files.accepted} gives no reason for ${rule} at ${path}.`),
  ];
}

function isSame(one: { rule: string; path: string }, { rule, path }: BreakingChange): boolean {
  return one.rule === rule && one.path === path;
}
