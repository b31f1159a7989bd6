import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { VERSION } from '../../../src/platform/version.js';

const run = promisify(execFile);
const FOLDER = 'clients/typescript';
const NAME = 'neighbourhood-devplatform-client';
const PROGRAMS = 'test/system/node_modules/.bin';
const MAX_BYTES = 10_000;

/** The compiler options of a strict project of a partner. */
const STRICT = {
  module: 'nodenext',
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
};

describe('Package of the TypeScript client', () => {
  let folder: string;
  let tarball: string;
  /** An app that has installed the package. */
  let partner: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-client-'));
    const source = join(folder, 'package');
    await mkdir(source);
    for (const file of ['package.json', 'README.md', 'LICENSE'])
      await cp(join(FOLDER, file), join(source, file));
    await run('npx', ['tsc', '-p', FOLDER, '--outDir', join(source, 'dist')]);
    const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder, source];
    const { stdout } = await run('npm', pack);
    tarball = join(folder, stdout.trim());
    partner = join(folder, 'partner');
    const installed = join(partner, 'node_modules', NAME);
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    await writeFile(join(partner, 'package.json'), JSON.stringify({ type: 'module' }));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has the version of the service', async () => {
    const { version } = JSON.parse(await readFile(join(FOLDER, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(version).toBe(VERSION);
  });

  /** Type-checks files of the partner. Returns the errors. */
  async function typeErrors(files: Record<string, string>, options: object): Promise<string> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(partner, name), text);
    const config = { compilerOptions: { ...STRICT, ...options }, files: Object.keys(files) };
    await writeFile(join(partner, 'tsconfig.json'), JSON.stringify(config));
    return run('npx', ['tsc', '-p', partner]).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  }

  /** The minified bundle of an app with this code. */
  async function bundle(code: string): Promise<string> {
    const input = join(partner, 'bundled.js');
    await writeFile(input, code);
    const bundled = await rolldown({ input, cwd: partner, platform: 'browser', logLevel: 'warn' });
    const { output } = await bundled.generate({ minify: true });
    await bundled.close();
    return output[0].code;
  }

  it('has no problem that publint knows', async () => {
    await run(`${PROGRAMS}/publint`, ['run', tarball, '--strict', '--pack', 'false']);
  });

  it('has types for every module resolution of ES modules (arethetypeswrong)', async () => {
    await run(`${PROGRAMS}/attw`, [tarball, '--profile', 'esm-only', '--format', 'table']);
  });

  it('is free of dependencies, and contains only code, types, README and license', async () => {
    const text = await readFile(join(partner, 'node_modules', NAME, 'package.json'), 'utf8');
    const {
      version,
      private: isPrivate,
      ...manifest
    } = JSON.parse(text) as Record<string, unknown>;
    expect(isPrivate).toBeUndefined();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(manifest).toMatchObject({ license: 'MIT', sideEffects: false, type: 'module' });
    expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
    const { stdout } = await run('tar', ['-tzf', tarball]);
    const others = stdout
      .split('\n')
      .filter((file) => !/^(package\/dist\/\w+(\.d\.ts|\.js))?$/.test(file));
    expect(others.toSorted()).toEqual(
      ['LICENSE', 'README.md', 'package.json'].map((f) => `package/${f}`),
    );
  });

  it(`is smaller than ${MAX_BYTES} bytes, minified and compressed`, async () => {
    const code = await bundle(`export * from '${NAME}';`);
    expect(code).toContain('/oauth/authorize');
    expect(gzipSync(code).length).toBeLessThan(MAX_BYTES);
  });

  it('leaves out of a bundle what the app does not import', async () => {
    const unused = await bundle(`import '${NAME}'; import { createClient } from '${NAME}';`);
    expect(unused.trim()).toBe('');
    const authorizing = await bundle(`export { startAuthorization } from '${NAME}';`);
    expect(authorizing).toContain('/oauth/authorize');
    expect(authorizing).not.toMatch(/\/dev\/v1|\/oauth\/revoke/);
  });

  it.each([
    {
      where: 'Node',
      options: { types: ['node'], lib: ['es2022'], typeRoots: [resolve('node_modules/@types')] },
    },
    {
      where: 'a browser',
      options: {
        types: [],
        lib: ['es2022', 'dom', 'dom.asynciterable'],
        module: 'esnext',
        moduleResolution: 'bundler',
      },
    },
  ])('compiles in a strict project for $where', async ({ options }) => {
    const app = `
import { createClient, memoryStore, type Client, type Post, type PostItem } from '${NAME}';
const settings = { issuer: 'https://dev.example.com', clientId: 'x', redirectUri: 'x' };
const client: Client = createClient(settings, memoryStore());
export const post: Promise<Post> = client.getPost({ id: 'post_x' });
export const quota: Promise<{ remaining: number | null }> = client.getQuota();
export async function* items(): AsyncGenerator<PostItem> {
  for await (const item of client.listPosts({ limit: 50 }, { signal: AbortSignal.timeout(1000) })) yield item;
}
// @ts-expect-error The limit is a number.
client.listPosts({ limit: '50' });
`;
    expect(await typeErrors({ 'app.ts': app }, options)).toBe('');
  });

  it('has types for CommonJS that requires it, with the module option nodenext', async () => {
    const code = `import { memoryStore } from '${NAME}';\nexport const store = memoryStore();\n`;
    const options = { types: [], lib: ['es2022', 'dom'] };
    expect(await typeErrors({ 'app.cts': code }, options)).toBe('');
    expect(await typeErrors({ 'app.cts': code }, { ...options, module: 'node16' })).toContain(
      'TS1479',
    );
  });

  it('runs with import and with require', async () => {
    const names = 'startAuthorization, createClient';
    const use = `startAuthorization({ issuer: 'https://dev.example.com', clientId: 'x', redirectUri: 'x' }, { scope: 'a' }).then(({ url }) => console.log(typeof createClient, url.slice(0, 39)));`;
    await writeFile(join(partner, 'app.mjs'), `import { ${names} } from '${NAME}'; ${use}`);
    await writeFile(join(partner, 'app.cjs'), `const { ${names} } = require('${NAME}'); ${use}`);
    for (const file of ['app.mjs', 'app.cjs']) {
      const { stdout } = await run(process.execPath, [join(partner, file)]);
      expect(stdout.trim()).toBe('function https://dev.example.com/oauth/authorize');
    }
  });

  it('has a README whose code compiles, as one program in the order of the page', async () => {
    const page = await readFile(join(FOLDER, 'README.md'), 'utf8');
    const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(7);
    const options = {
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
      lib: ['es2022', 'dom', 'dom.asynciterable'],
    };
    expect(await typeErrors({ 'readme.ts': blocks.join('\n') }, options)).toBe('');
  });
});
