import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const EXCLUDED_FOLDERS = new Set(['node_modules', 'dist', 'data', 'coverage', '.git']);

/** Every file and folder of the repository. Folders end with a slash. */
const paths = listPaths('.');
const pages = paths.filter((path) => path.endsWith('.md'));

const { scripts, dependencies, devDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>;
/** Some names look like a file, such as `highlight.js`. */
const packages = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);

/** Built-in commands of npm. */
const NPM_COMMANDS = new Set(['ci', 'install', 'link', 'pack', 'prune', 'ls', 'outdated', 'audit']);

function listPaths(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !EXCLUDED_FOLDERS.has(name))
    .map((name) => normalize(join(folder, name)))
    .flatMap((path) => (statSync(path).isDirectory() ? [`${path}/`, ...listPaths(path)] : [path]));
}

/** The anchors that GitHub generates for the headings of a page, and those in HTML. */
function anchors(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  const inHtml = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...inHtml, ...headings];
}

function brokenLinks(page: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!paths.includes(target) && !paths.includes(`${target}/`)) return true;
    return anchor !== undefined && !anchors(target).includes(anchor);
  });
}

/** Files and folders that the text names and that do not exist. A suffix of a path is enough; a built file counts as its source. */
function missingFiles(text: string): string[] {
  const named = [
    ...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*(?:\.(?:[cm]?[jt]s|eta|css|md|yaml)|\/))`/g),
  ];
  return named
    .map(([, path = '']) =>
      path.replace(/^dist\/(.*)\.js$/, '$1.ts').replace('src/bundle/', 'src/'),
    )
    .filter((path) => !packages.has(path))
    .filter((path) => !EXCLUDED_FOLDERS.has(path.split('/')[0] ?? ''))
    .filter((path) => !paths.some((known) => known === path || known.endsWith(`/${path}`)));
}

/** npm scripts that code in the text calls and that do not exist. */
function missingScripts(text: string): string[] {
  const code = [...text.matchAll(/^```.*?^```$|`[^`\n]+`/gms)].join('\n');
  const calls = [...code.matchAll(/\bnpm (?:run (?:-s )?)?([a-z][\w:-]*)/g)];
  const names = calls
    .filter(([, name = '']) => !NPM_COMMANDS.has(name))
    .map(([, name = '']) => name);
  return names.filter((name) => !(name in scripts));
}

/** Of the pages for operators, so that they can be read at night. */
const MAX_LINES = 250;
const OPERATE = 'docs/operate.md';
const operatePages = pages.filter((page) => page.startsWith('docs/operate/'));

describe('The pages for operators', () => {
  it.each([OPERATE, ...operatePages])(`%s has at most ${MAX_LINES} lines`, (page) => {
    expect(readFileSync(page, 'utf8').split('\n').length - 1).toBeLessThanOrEqual(MAX_LINES);
  });

  it.each(operatePages)(
    '%s is listed in docs/operate.md, with the anchor that each section had there',
    (page) => {
      const index = readFileSync(OPERATE, 'utf8');
      expect(index).toContain(`](${page.slice('docs/'.length)})`);
      const [, ...sections] = anchors(page);
      expect(anchors(OPERATE)).toEqual(expect.arrayContaining(sections));
    },
  );
});

describe.each(pages)('Page %s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('links only to existing files and headings', () => {
    expect(brokenLinks(page, text)).toEqual([]);
  });

  it('names only existing files and folders', () => {
    expect(missingFiles(text)).toEqual([]);
  });

  it('names only existing npm scripts', () => {
    expect(missingScripts(text)).toEqual([]);
  });
});
