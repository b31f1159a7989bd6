import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ASSERTIONS } from './assertions.js';

export const RELIABILITY_PAGE = 'docs/reliability.md';

/** A test that proves a rule, by its title. */
export interface Proof {
  number: string;
  title: string;
  file: string;
}

/** A string that begins with the number of a rule is the title of a test. */
const TITLE = /(['"`])(O\d+) ((?:(?!\1).)+)\1/g;

/** Every numbered test, in the order of files and lines. */
export async function proofs(): Promise<Proof[]> {
  const entries = await readdir('test', { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('-spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const found = files.map(async (file) => {
    const source = await readFile(file, 'utf8');
    return [...source.matchAll(TITLE)].map(([, , number = '', title = '']) => ({
      number,
      title: title.replace(/,? \$\{ROUNDS\} times/, '').replaceAll('\\', ''),
      file,
    }));
  });
  return (await Promise.all(found)).flat();
}

/** The page as it must be, formatted. */
export async function reliabilityPage(): Promise<string> {
  const all = await proofs();
  const rows = Object.entries(ASSERTIONS).map(([number, source]) => {
    const own = all.filter((proof) => proof.number === number);
    const plain = own.find(({ title }) => !title.includes('%')) ?? own[0];
    const files = [...new Set(own.map(({ file }) => file))].map(linkTo).join(', ');
    return `| ${number} | ${escaped(plain?.title ?? '')} | ${own.length} | ${files} | ${source} |`;
  });
  const page = [INTRODUCTION, HEADER, ...rows].join('\n');
  return format(page, { ...(await resolveConfig(RELIABILITY_PAGE)), parser: 'markdown' });
}

function linkTo(file: string): string {
  const name =
    file
      .split('/')
      .at(-1)
      ?.replace(/\.(e2e|db|browser)-spec\.ts$/, '') ?? file;
  return `[${name}](${relative('docs', file)})`;
}

function escaped(title: string): string {
  return title.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll(/%[sj]/g, '…');
}

const HEADER = '| Rule | What holds | Tests | Where | Source |\n| --- | --- | --- | --- | --- |';

const INTRODUCTION = `# What the authorization server promises

Every rule of the authorization server has a number, and at least one test whose title begins with it. The tests call the
real service over HTTP and run on SQLite, MariaDB and MySQL; races run on MariaDB and MySQL, with two processes of the
service, three rounds in \`npm test\` and a hundred in \`npm run test:races\`. A rule may hold in more ways than its line here
tells: the line is the title of one of its tests, and the number beside it counts the tests as they are written, of which
many run once per engine and per example.

"Source" names the standard that a rule comes from; \`own\` is a rule of ours. A second implementation of the same standards
answers the same requests in [test/oracle](../test/oracle), and every difference is listed there with its reason.

This page is generated from the tests: \`npm run reliability\` writes it, and the tests fail when it is out of date or when a
rule has no test.
`;
