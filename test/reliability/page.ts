import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { readFigures } from '../faults/figures.js';
import { GUARANTEES } from '../faults/guarantees.js';
import { TOPICS } from './rules.js';
import type { Topic } from './topic.js';

export const RELIABILITY_PAGE = 'docs/reliability.md';

/** A test file that proves a rule. */
export interface Proof {
  /** The number of the rule, such as `O12`. */
  number: string;
  file: string;
}

/** The numbers at the start of the title of `it(…)` or `it.each(…)(…)`; skipped tests do not match. */
const TITLE = /(?:\bit\(|\)\()\s*['"`]((?:[OC]\d+ )+)/g;

/** The number in the property `proves` of a case of test/system/comparison. */
const PROVES = /'([OC]\d+)'/g;

/** A proof for each rule number in the title of a test. */
export async function tests(): Promise<Proof[]> {
  const files = [...(await filesOf('test', '-spec.ts')), ...(await filesOf('src', '.spec.ts'))];
  return proofsIn(files, TITLE);
}

/** A proof for each case of test/system/comparison with a rule number. Two equal responses prove little, so each rule needs a test as well. */
export async function comparisonCases(): Promise<Proof[]> {
  return proofsIn(await filesOf('test/system/comparison/cases', '.cases.ts'), PROVES);
}

/** The content of docs/reliability.md. */
export async function reliabilityPage(): Promise<string> {
  const proofs = [...(await tests()), ...(await comparisonCases())];
  const sections = TOPICS.map((topic) => sectionOf(topic, proofs));
  const links = unique(proofs.map(({ file }) => `[${nameOf(file)}]: ${relative('docs', file)}`));
  const faults = await faultsSection();
  return `${[INTRODUCTION, faults, ...sections, links.toSorted().join('\n')].join('\n\n')}\n`;
}

/** The guarantees under faults, with the last measured figures of their tests. */
async function faultsSection(): Promise<string> {
  const figures = readFigures();
  const sections = Object.entries(GUARANTEES).map(async ([folder, { title, text }]) => {
    const rows = (await filesOf(join('test/faults', folder), '-spec.ts')).map((file) => {
      const last = figures?.files[file];
      const results = last ? [`${last.passed} passed`, ...last.figures].join('<br>') : '';
      return `| [${nameOf(file)}](../${file}) | ${results} |`;
    });
    return [`### ${title}`, '', text, '', FAULTS_HEADER, ...rows].join('\n');
  });
  const lastMeasured = figures ? ` Last measured: ${figures.measured}.` : '';
  const introduction = `\`npm run test:faults\` causes these faults in the service, its database and its network.${lastMeasured}`;
  return ['## Faults', introduction, ...(await Promise.all(sections))].join('\n\n');
}

function sectionOf({ title, rules }: Topic, proofs: readonly Proof[]): string {
  const rows = Object.entries(rules).map(([number, { rule, source }]) => {
    const proofsOfRule = proofs.filter((proof) => proof.number === number);
    const links = unique(proofsOfRule.map(({ file }) => `[${nameOf(file)}]`)).join(', ');
    const commands = unique(proofsOfRule.map(({ file }) => commandOf(file)))
      .toSorted()
      .join(', ');
    return `| ${number} | ${rule.replaceAll('|', String.raw`\|`)} | ${links} | ${commands} | ${source} |`;
  });
  return [`## ${title} (${rangesOf(Object.keys(rules))})`, '', HEADER, ...rows].join('\n');
}

/** Rule numbers as ranges without gaps: `C117, C139–C145`. */
function rangesOf(numbers: readonly string[]): string {
  const ranges: [first: string, last: string][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range && numberIn(number) === numberIn(range[1]) + 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ');
}

/** The 12 of `O12`. */
function numberIn(ruleNumber: string): number {
  return Number(ruleNumber.slice(1));
}

/** The link text of a file: `races/refresh`, `comparison/token`. */
function nameOf(file: string): string {
  const folder = basename(dirname(file.replace('/cases/', '/')));
  const name = basename(file).replace(/(\.[a-z0-9]+-spec|\.spec|\.cases)\.ts$/, '');
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

const FAULTS_HEADER = '| Tests | Last results |\n| --- | --- |';

const HEADER = '| No. | Rule | Tests | Command | Source |\n| --- | --- | --- | --- | --- |';

const INTRODUCTION = `# Guarantees

Every rule of the authorization server (O) and of the developer API (C), by topic, with the tests that prove it, the command that
runs them, and the standard that requires it. The page is for partners who rely on the service and for developers who change it.
If a rule no longer holds, a test with its number fails.

How to read a rule of the authorization server:

- _Returns an error page with 400_: an HTML page with this status in the user's browser, without a redirect.
- _Redirects with \`invalid_scope\`_: a 303 to the redirect URI of the request with this \`error\`, the \`state\` of the request and
  \`iss\`. The server creates no grant. O20 describes the page that a user without a session gets instead.
- _Returns \`invalid_grant\`_: a JSON error (RFC 6749 §5.2) of the endpoint that was called, with status 400 unless the rule names
  another. _Consumes nothing_: the code or token in the request still works.

How to read a rule of the developer API:

- _Returns 404 \`not_found\`_: the error format of the API with this status and this \`error\`. _Returns 400 with \`too_long\`_: the
  status is 400, \`error\` is \`invalid_request\`, and \`errors\` has this \`code\` for the field.
- A rejected request stores nothing and uses no quota. The \`X-Request-Id\` of the response equals the \`request_id\` in its body,
  and the body reveals no framework, file or SQL statement.

A number in a rule is the default if operators can configure it. A "Source" of \`own\` marks a rule that no standard requires.

Each rule has at least one test whose title begins with its number. "Command" names the script: \`test\` is \`npm test\`, and
\`test:system\` is \`npm run test:system\`. Most tests send HTTP requests to the real service; tests of many inputs call the
responsible function. \`npm test\` uses SQLite and one database server: test files of rules that depend on the database run on both,
other files on one of the two. A complete \`npm run test:system\` runs all these files on SQLite, MariaDB and MySQL. A test is listed
here even if its suite is skipped because a server or Chromium is not installed: each run reports its engines and the number of
skipped tests.

**Races** (\`races/…\`) send the same request many times concurrently, most of them to two processes of the service that share a
MariaDB or MySQL database: a few rounds in \`npm run test:system\`, a hundred in \`npm run test:races\`. O140 lists the exceptions.

**The comparison** (\`comparison/…\`) sends the same requests to this service and to \`oidc-provider\`, another implementation of
the same standards. [differences.ts](../test/system/comparison/differences.ts) lists every difference between their responses
with its reason. A difference that is not listed fails the test; see [decision 0010](decisions/0010-reference-implementation.md).

\`npm run reliability\` generates this page from the rules in \`test/reliability/\` and the numbers in the tests. A rule without a
test, a test without a rule, and an outdated page fail \`npm test\`.`;
