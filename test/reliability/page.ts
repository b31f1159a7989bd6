import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { readFigures } from '../faults/figures.js';
import { PROMISES } from '../faults/promises.js';
import { ASSERTIONS } from './rules.js';
import type { Topic } from './topic.js';

export const RELIABILITY_PAGE = 'docs/reliability.md';

/** A test file that carries the number of a rule. */
export interface Proof {
  number: string;
  file: string;
}

/** The numbers at the start of the title of `it(…)` or `it.each(…)(…)`; skipped tests do not match. */
const TITLE = /(?:\bit\(|\)\()\s*['"`]((?:[OC]\d+ )+)/g;

/** The number in the property `proves` of an oracle's row. */
const PROVES = /'([OC]\d+)'/g;

/** Every numbered test. */
export async function tests(): Promise<Proof[]> {
  const files = [...(await filesOf('test', '-spec.ts')), ...(await filesOf('src', '.spec.ts'))];
  return proofsIn(files, TITLE);
}

/** Every numbered request of the oracle. Agreement is no proof, so no rule may have only these. */
export async function comparisons(): Promise<Proof[]> {
  return proofsIn(await filesOf('test/system/oracle/rows', '.rows.ts'), PROVES);
}

/** The content of docs/reliability.md. */
export async function reliabilityPage(): Promise<string> {
  const proofs = [...(await tests()), ...(await comparisons())];
  const sections = ASSERTIONS.map((topic) => sectionOf(topic, proofs));
  const links = unique(proofs.map(({ file }) => `[${nameOf(file)}]: ${relative('docs', file)}`));
  const faults = await faultsSection();
  return `${[INTRODUCTION, faults, ...sections, links.toSorted().join('\n')].join('\n\n')}\n`;
}

/** Each promise, with the last measured figures of its tests. */
async function faultsSection(): Promise<string> {
  const kept = readFigures();
  const promises = Object.entries(PROMISES).map(async ([folder, { title, promise }]) => {
    const rows = (await filesOf(join('test/faults', folder), '-spec.ts')).map((file) => {
      const last = kept?.files[file];
      const shown = last ? [`${last.passed} passed`, ...last.figures].join('<br>') : '';
      return `| [${nameOf(file)}](../${file}) | ${shown} |`;
    });
    return [`### ${title}`, '', promise, '', FAULTS_HEADER, ...rows].join('\n');
  });
  const shown = kept ? ` The figures are of ${kept.shown}.` : '';
  const introduction = `\`npm run test:faults\` breaks the service, its database and its network in each of these ways.${shown}`;
  return ['## Whatever breaks', introduction, ...(await Promise.all(promises))].join('\n\n');
}

function sectionOf({ title, rules }: Topic, proofs: readonly Proof[]): string {
  const numbers = Object.keys(rules);
  const rows = Object.entries(rules).map(([number, { rule, source }]) => {
    const own = proofs.filter((proof) => proof.number === number);
    const places = unique(own.map(({ file }) => `[${nameOf(file)}]`)).join(', ');
    const commands = unique(own.map(({ file }) => commandOf(file)))
      .toSorted()
      .join(', ');
    return `| ${number} | ${rule.replaceAll('|', String.raw`\|`)} | ${places} | ${commands} | ${source} |`;
  });
  return [`## ${title} (${numbers[0]}–${numbers.at(-1)})`, '', HEADER, ...rows].join('\n');
}

/** The folder and name of a file, by which it is linked: `races/refresh`, `oracle/token`. */
function nameOf(file: string): string {
  const folder = basename(dirname(file.replace('/rows/', '/')));
  const name = basename(file).replace(/(\.[a-z0-9]+-spec|\.spec|\.rows)\.ts$/, '');
  return `${folder}/${name}`;
}

/** The command that runs the tests of a file. */
function commandOf(file: string): string {
  const [, suite] = /^test\/(system|faults)\//.exec(file) ?? [];
  return suite === undefined ? '`test`' : `\`test:${suite}\``;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

async function filesOf(folder: string, ending: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending));
  return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
}

async function proofsIn(files: readonly string[], pattern: RegExp): Promise<Proof[]> {
  const found = files.map(async (file) => {
    const source = await readFile(file, 'utf8');
    return [...source.matchAll(pattern)].flatMap(([, numbers = '']) =>
      numbers
        .trim()
        .split(' ')
        .map((number) => ({ number, file })),
    );
  });
  return (await Promise.all(found)).flat();
}

const FAULTS_HEADER = '| Where | Last figures |\n| --- | --- |';

const HEADER = '| Rule | What holds | Where | Run by | Source |\n| --- | --- | --- | --- | --- |';

const INTRODUCTION = `# What the platform promises

Every rule of the authorization server (O) and of the developer API (C), by topic, with the tests that prove it, the command that
runs them, and the standard that it comes from. For partners who want to know what they can rely on, and for developers who change
the platform: a rule that stops holding fails a test with its number.

How to read a rule of the authorization server:

- _Gets a page with 400_: an HTML page with this status for the person at the browser, without a redirect.
- _The app is told \`invalid_scope\`_: a 303 to the redirect URI of the request with this \`error\`, the \`state\` of the request and
  \`iss\`. No grant is made.
- _Is \`invalid_grant\`_: a JSON error (RFC 6749 §5.2) of the endpoint that was called, with status 400 unless the rule names another.
  _Spends nothing_: the code or token that came with the request still works.

How to read a rule of the developer API:

- _Is 404 \`not_found\`_: the error body of the API with this status and this \`error\`. _Is 400 with \`too_long\`_: the status is
  400, \`error\` is \`invalid_request\`, and \`errors\` has this \`code\` for the field.
- A rejected request leaves no row behind, spends no quota, and has an \`X-Request-Id\` that equals the \`request_id\` of its
  body. The body names no framework, file or statement.

In both, numbers are the defaults where they can be configured, and "Source" is \`own\` where a rule is ours.

Each rule has at least one test whose title begins with its number. "Run by" names the script: \`test\` is \`npm test\`, and
\`test:system\` is \`npm run test:system\`. Most tests send HTTP requests to the real service; a matrix of inputs calls the
function that decides. \`npm test\` runs what depends on the database on SQLite and on one server, and every other file on one of
the two; a whole \`npm run test:system\` runs both on SQLite, MariaDB and MySQL. A test counts here even where its suite is skipped
because a server or Chromium is not installed: each run ends with the engines that it had and the number of skipped tests.

**Races** (\`races/…\`) send the same request many times at the same moment, most of them to two processes of the service
that share a MariaDB or MySQL database: a few rounds in \`npm run test:system\`, a hundred in \`npm run test:races\`. O140 lists
the exceptions.

**The oracle** (\`oracle/…\`) is a second implementation of the same standards, \`oidc-provider\`, that gets the same requests.
Every difference between the two responses is listed with its reason in
[differences.ts](../test/system/oracle/differences.ts), and one that is not listed fails; see
[decision 0010](decisions/0010-reference-implementation.md).

This page is generated: \`npm run reliability\` writes it, from the rules in \`test/reliability/\` and the numbers in the
tests. A rule without a test, a test without a rule, and a page that is out of date fail \`npm test\`.`;
