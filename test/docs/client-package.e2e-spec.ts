import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

const run = promisify(execFile);
const PATH = '/docs/client.tgz';
const NAME = 'neighbourhood-devplatform-client';
/** Nothing listens there: npm must not need a registry. */
const NO_REGISTRY = 'http://127.0.0.1:9';

onOneEngine('Package of the TypeScript client that the service serves', (database) => {
  const app = useTestApp(database);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-partner-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is a gzip file that caches may store for an hour', async () => {
    const { status, headers } = await app().fetch(PATH);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/gzip');
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
    expect(headers.has('etag')).toBe(true);
  });

  it('is installed by npm from the URL, without a registry, and runs', async () => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const options = [`--registry=${NO_REGISTRY}`, `--cache=${join(folder, 'cache')}`];
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--noproxy=127.0.0.1'];
    await run('npm', ['install', app().baseUrl + PATH, ...options, ...quiet], { cwd: folder });
    const program = `import * as client from '${NAME}'; console.log(typeof client.createClient);`;
    const node = ['--input-type=module', '--eval', program];
    const { stdout } = await run(process.execPath, node, { cwd: folder });
    expect(stdout).toBe('function\n');
    // The README names both sizes of the code, in kB.
    const dist = join(folder, 'node_modules', NAME, 'dist');
    const scripts = (await readdir(dist)).filter((file) => file.endsWith('.js'));
    const code = Buffer.concat(
      await Promise.all(scripts.map((file) => readFile(join(dist, file)))),
    );
    const [plain, compressed] = [code, gzipSync(code)].map(({ length }) =>
      Math.round(length / 1000),
    );
    const readme = await readFile(join(dist, '../README.md'), 'utf8');
    expect(readme).toContain(`Its code has ${plain} kB, ${compressed} kB with gzip.`);
  });
});
