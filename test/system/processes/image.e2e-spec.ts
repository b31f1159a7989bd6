import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { useFolder } from '../../support/folder.js';
import { SWAGGER_UI_FILES } from '../../../src/docs/served-files.js';
import { VERSION } from '../../../src/platform/version.js';
import {
  copyImageFiles,
  LICENCE_TEXTS,
  packageFolders,
  unbundledFolders,
} from '../../../tools/image-files.js';
import { onOneServer } from '../../support/database.js';
import { startProcess } from '../../support/service-process.js';
import { shippedPackages } from '../../support/shipped-packages.js';

const MAX_BYTES = 30_000_000;
/** Node 20 needs another version of better-sqlite3, which the image does not contain. */
const RUNS_SQLITE = Number(process.versions.node.split('.')[0]) >= 22;

describe('Files of the image', () => {
  const folder = useFolder();
  beforeAll(async () => {
    await copyImageFiles(folder);
  });

  /** Runs the command line as the image does: by its first line. */
  const command = (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(join(folder, 'dist/src/bundle/cli.js'), args, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
    });

  it('contain the packages that are not bundled, and no others', async () => {
    const copied = await readdir(join(folder, 'node_modules'), { recursive: true });
    const packages = copied
      .filter((name) => basename(name) === 'package.json')
      .map((name) => join('node_modules', dirname(name)))
      // Some packages have a `package.json` in a folder of their own.
      .filter((name) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(name));
    expect(packages.toSorted()).toEqual((await unbundledFolders()).toSorted());
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
    expect(files.filter(({ name }) => /\.(ts|map|cpp)$/.test(name))).toEqual([]);
  });

  it('contain the licence text of each package, which docs/licences.md lists', async () => {
    const texts = await readFile(join(folder, LICENCE_TEXTS), 'utf8');
    const listed = (await shippedPackages()).map(({ name, version }) => `${name} ${version}`);
    const folders = await packageFolders();
    expect(folders.length).toBeGreaterThan(100);
    for (const one of folders) {
      const { version } = JSON.parse(await readFile(join(one, 'package.json'), 'utf8')) as {
        version: string;
      };
      // The lock file calls an alias by its own name.
      const name = one.slice(one.lastIndexOf('node_modules/') + 'node_modules/'.length);
      expect(listed).toContain(`${name} ${version}`);
      expect(texts).toContain(`${name.replace(/-13$/, '')} ${version}\n`);
    }
  });

  it('run the command line', async () => {
    const { stdout } = await command(['--version']);
    expect(stdout).toBe(`${VERSION}\n`);
  });

  it.runIf(RUNS_SQLITE)('run on SQLite', async () => {
    const DATABASE_URL = `sqlite:${join(folder, 'service.sqlite')}`;
    await command(['db', 'migrate'], { DATABASE_URL });
    expect((await command(['db', 'check'], { DATABASE_URL })).stderr).toBe('');
  });

  onOneServer('The service of the image', ({ url }) => {
    it('serves its pages and each file of Swagger UI', async () => {
      const build = { main: join(folder, 'dist/src/bundle/main.js'), folder };
      const service = await startProcess({ url, env: { MIGRATE: '1' }, build });
      const files = SWAGGER_UI_FILES.map((file) => `/docs/${file}`);
      const pages = [
        '/',
        '/docs',
        '/docs/api.md',
        '/docs/client.tgz',
        '/docs/errors',
        '/docs/errors.md',
        '/docs/guide',
        '/docs/guide/errors.md',
        '/docs/postman.json',
        '/docs/postman-environment.json',
        '/llms.txt',
        '/openapi.json',
      ];
      const assets = ['/assets/style.css', '/assets/icon.svg', '/assets/consent.js'];
      for (const path of ['/readyz', ...pages, ...files, ...assets, '/account/apps']) {
        const { status } = await fetch(`${service.baseUrl}${path}`);
        expect({ path, status }).toEqual({ path, status: 200 });
      }
      expect(await service.stop()).toBe(0);
    });
  });
});
