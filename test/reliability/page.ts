import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { readFigures } from '../faults/figures.js';

export const RELIABILITY_PAGE = 'docs/reliability.md';

/** A test file that proves a rule. */
export interface Proof {
  /** The number of the rule, such as `O12`. */
  number: string;
  file: string;
}

/** The numbers at the start of the title of `it(…)`, `it.each(…)(…)` or `race(…)`; skipped tests do not match. */
const TITLE = /(?:\b(?:it|race)\(|\)\()\s*['"`]((?:[OC]\d+ )+)/g;

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

/** A rule: its number, its text, its tests, their commands, and its source. */
const RULE_ROW = /^\| ([OC]\d+) \| (.*) \|[^|]*\|[^|]*\|([^|]*)\|$/gm;

/** The rows of the tests in a folder of test/faults. */
const FAULT_ROWS = /(?:^\| \[([\w-]+)\/.*\n)+/gm;

/** The link definitions at the end. */
const LINKS = /(?:^\[.*\]: .*\n)+/m;

/** The numbers of the rules, in the order of docs/reliability.md. */
export async function ruleNumbers(): Promise<string[]> {
  const page = await readFile(RELIABILITY_PAGE, 'utf8');
  return [...page.matchAll(RULE_ROW)].map(([, number = '']) => number);
}

/** The content of docs/reliability.md with the current tests of each rule, and the last results of the fault tests. */
export async function reliabilityPage(): Promise<string> {
  const page = await readFile(RELIABILITY_PAGE, 'utf8');
  const proofs = [...(await tests()), ...(await comparisonCases())];
  const links = unique(proofs.map(({ file }) => `[${nameOf(file)}]: ${relative('docs', file)}\n`));
  const faults = await filesOf('test/faults', '-spec.ts');
  return page
    .replace(/ Last measured: .*$/m, ` Last measured: ${readFigures()?.measured ?? 'never'}.`)
    .replaceAll(FAULT_ROWS, (_, folder: string) => faultRows(folder, faults))
    .replaceAll(RULE_ROW, (_, number: string, rule: string, source: string) => {
      const files = proofs.filter((proof) => proof.number === number).map(({ file }) => file);
      const names = unique(files.map((file) => `[${nameOf(file)}]`)).join(', ');
      const commands = unique(files.map(commandOf)).toSorted().join(', ');
      return `| ${number} | ${rule} | ${names} | ${commands} | ${source.trim()} |`;
    })
    .replace(LINKS, links.toSorted().join(''));
}

/** A row for each test in a folder of test/faults, with its last results. */
function faultRows(folder: string, files: readonly string[]): string {
  const rows = files
    .filter((file) => file.startsWith(`test/faults/${folder}/`))
    .map((file) => {
      const last = readFigures()?.files[file];
      const results = last ? [`${last.passed} passed`, ...last.figures].join('<br>') : '';
      return `| [${nameOf(file)}](../${file}) | ${results} |\n`;
    });
  return rows.join('');
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
