import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  configurationTable,
  envExample,
  withConfigurationTable,
} from '../../src/bin/env-example.js';
import { envSchema } from '../../src/config/env.schema.js';
import { loadConfig } from '../../src/config/load-config.js';

const PROGRAM = resolve('dist/src/bin/env-example.js');

/** The program's exit code and words, run in `folder`. */
function run(folder: string, ...options: string[]): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...options], { cwd: folder }, (error, stdout, stderr) => {
      done({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

describe('The documentation of the configuration', () => {
  it('is current in .env.example', async () => {
    expect(await readFile('.env.example', 'utf8')).toBe(envExample());
  });

  it('is current in the README', async () => {
    const readme = await readFile('README.md', 'utf8');
    expect(withConfigurationTable(readme)).toBe(readme);
  });

  it('names every variable once, in both places', () => {
    const names = Object.keys(envSchema.shape);
    const inExample = [...envExample().matchAll(/^# ([A-Z][A-Z_]+)=/gm)];
    expect(inExample.map(([, name]) => name)).toEqual(names);
    const inTable = [...configurationTable().matchAll(/^\| `([A-Z_]+)` /gm)];
    expect(inTable.map(([, name]) => name)).toEqual(names);
  });

  it('tells the defaults that the service takes', () => {
    const uncommented = envExample().matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm);
    const environment = Object.fromEntries(
      [...uncommented].map(([, name, value]) => [name, value]),
    );
    expect(environment).toMatchObject({
      PORT: '3000',
      OAUTH_TOKEN_CALLS: '7500',
      OAUTH_REFUSE_REUSED_CHALLENGE: '0',
    });
    const { otp: told, ...rest } = loadConfig(environment);
    const { otp, ...defaults } = loadConfig({});
    expect(rest).toEqual(defaults);
    expect({ ...told, pepper: '' }).toEqual({ ...otp, pepper: '' });
  });
});

describe('The program that writes it', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-env-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('fails on stale files and names the command that mends them', async () => {
    await writeFile(
      join(folder, 'README.md'),
      '# A\n\n<!-- configuration -->\n<!-- /configuration -->\n\nB\n',
    );
    const stale = await run(folder);
    expect(stale.code).toBe(1);
    expect(stale.output).toContain('node dist/src/bin/env-example.js --write');
    expect((await run(folder, '--write')).code).toBe(0);
    expect((await run(folder)).code).toBe(0);
    const readme = await readFile(join(folder, 'README.md'), 'utf8');
    expect(readme).toBe(`# A\n\n${configurationTable()}\n\nB\n`);
    expect(await readFile(join(folder, '.env.example'), 'utf8')).toBe(envExample());
  });
});
