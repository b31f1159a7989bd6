import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SWAGGER_UI_FILES } from '../src/docs/served-files.js';

const BUNDLE = 'dist/src/bundle';
const MODULES = 'node_modules/';
/** The licence texts of all packages in the image. The bundle contains only some of them. */
export const LICENCE_TEXTS = 'THIRD-PARTY-LICENCES.txt';

/** The files that run of each package that is not in the bundle, because it loads files from its own folder. */
export const UNBUNDLED: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3-13': ['package.json', 'LICENSE', 'lib', `prebuilds/linux-${process.arch}.node`],
  'swagger-ui-dist': ['package.json', 'LICENSE', 'NOTICE', 'absolute-path.js', ...SWAGGER_UI_FILES],
};

/** The packages for tracing are not in the bundle either, and load their dependencies. Only what Node loads of them is copied. */
const TRACING = /^@opentelemetry\//;
const NOT_LOADED = /\.(map|[mc]?ts|md)$|^\/(build\/(esm|esnext)|node_modules)(\/|$)/;

/**
 * Copies the files that run to a folder, which becomes `/app` in the image: the bundle, its assets, and the packages of `UNBUNDLED`.
 * The working directory is the root of the repository, after `npm ci` and `npm run build`.
 * @throws when a file is missing, as on a processor without a prebuilt `better-sqlite3`
 */
export async function copyImageFiles(folder: string): Promise<void> {
  const files = [
    'package.json',
    'LICENSE',
    BUNDLE,
    'dist/docs',
    ...(await assets()),
    ...Object.entries(UNBUNDLED).flatMap(([name, own]) =>
      own.map((file) => `node_modules/${name}/${file}`),
    ),
  ];
  for (const file of files) {
    const target = join(folder, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(file, target, { recursive: true });
  }
  for (const own of await tracingFolders())
    await cp(own, join(folder, own), {
      recursive: true,
      filter: (file) => !NOT_LOADED.test(file.slice(own.length)),
    });
  await chmod(join(folder, BUNDLE, 'cli.js'), 0o755);
  await writeFile(join(folder, LICENCE_TEXTS), await licenceTexts());
}

/** The files in `dist` that are not compiled: templates, styles, icons and the scripts of pages. */
async function assets(): Promise<string[]> {
  const entries = await readdir('src', { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => join('dist', entry.parentPath, entry.name));
}

/** The folders of the packages that are not in the bundle, such as `node_modules/swagger-ui-dist`. */
export async function unbundledFolders(): Promise<string[]> {
  return [...Object.keys(UNBUNDLED).map((name) => MODULES + name), ...(await tracingFolders())];
}

/** The folders of the packages for tracing, and of all their dependencies. */
async function tracingFolders(): Promise<string[]> {
  const own = (await dependenciesOf('.')).filter((name) => TRACING.test(name));
  const found = new Set(own.map((name) => MODULES + name));
  // A set also iterates over what is added meanwhile.
  for (const folder of found)
    for (const name of await dependenciesOf(folder)) found.add(resolvedFolder(name, folder));
  return [...found].toSorted();
}

async function dependenciesOf(folder: string): Promise<string[]> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  return Object.keys(dependencies);
}

/** The folder from which Node loads a package for a file in `folder`. */
function resolvedFolder(name: string, folder: string): string {
  const nested = join(folder, MODULES, name);
  return folder === '.' || existsSync(nested) ? nested : resolvedFolder(name, dirname(folder));
}

/** The folders of all packages in the image, such as `node_modules/zod`. @throws when the bundle names none */
export async function packageFolders(): Promise<string[]> {
  const files = (await readdir(BUNDLE)).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(files.map((file) => readFile(join(BUNDLE, file), 'utf8')));
  const bundled = texts.flatMap((text) => text.split('\n').flatMap(packageFolderOf));
  if (bundled.length === 0) throw new Error(`${BUNDLE} has no comments with names of packages.`);
  return [...new Set([...bundled, ...(await unbundledFolders())])].toSorted();
}

/** The folder of the package in a comment of the bundler, such as `// node_modules/zod/v4/core/api.js`; empty for other lines. */
function packageFolderOf(line: string): string[] {
  const [slashes, file = '', ...more] = line.trim().split(' ');
  const start = file.lastIndexOf(MODULES) + MODULES.length;
  if (slashes !== '//' || more.length > 0 || start < MODULES.length) return [];
  const [first = '', second = ''] = file.slice(start).split('/');
  return [file.slice(0, start) + (first.startsWith('@') ? `${first}/${second}` : first)];
}

async function licenceTexts(): Promise<string> {
  const folders = await packageFolders();
  return (await Promise.all(folders.map(licenceText))).join('\n');
}

interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
}

const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)/i;

/** The licence files of a package, or the licence in its manifest if it has no such file. */
async function licenceText(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license = 'unknown licence', homepage = '' } = manifest;
  const files = (await readdir(folder, { withFileTypes: true }))
    .filter((file) => file.isFile() && LICENCE_FILE.test(file.name))
    .map(({ name: file }) => file);
  const texts = await Promise.all(
    files.toSorted().map((file) => readFile(join(folder, file), 'utf8')),
  );
  const text = texts.length > 0 ? texts.join('\n') : `${license} ${homepage}\n`;
  return `${'-'.repeat(80)}\n${name} ${version}\n\n${text}`;
}

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error('The folder is missing, for example: node dist/tools/image-files.js /tmp/image');
    process.exitCode = 2;
    return;
  }
  await copyImageFiles(folder);
}

// A test imports this module, too.
if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
