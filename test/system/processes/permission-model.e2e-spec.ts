import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onOneServer } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { startProcess } from '../../support/service-process.js';

const [, PAGE_OPTIONS = ''] =
  /^node (--permission .+) --env-file=\.env dist\/src\/bundle\/main\.js$/m.exec(
    readFileSync('docs/operate/install.md', 'utf8'),
  ) ?? [];

const knows = (option: string): boolean => process.allowedNodeEnvironmentFlags.has(option);
const RESTRICTS_NETWORK = knows('--allow-net');

/** The options of the page, for this folder and as this version of Node.js calls them. */
const options = PAGE_OPTIONS.split(' ')
  .filter((option) => RESTRICTS_NETWORK || option !== '--allow-net')
  .map((option) => option.replace('"$PWD"', process.cwd()))
  .map((option) =>
    option === '--permission' && !knows(option) ? '--experimental-permission' : option,
  );

onOneServer('The permission model of Node.js', ({ url }) => {
  const folder = useFolder();

  /** Starts a program that fails. Returns its output, without warnings of Node.js. */
  function failure(
    program: 'main' | 'cli',
    {
      args = [],
      env = {},
      nodeOptions = options,
    }: { args?: string[]; env?: Record<string, string>; nodeOptions?: string[] },
  ): string {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--no-warnings', ...nodeOptions, `dist/src/bundle/${program}.js`, ...args],
      {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, DATABASE_URL: url, METRICS_PORT: 'off', ...env },
        timeout: 20_000,
      },
    );
    expect(status).toBe(1);
    expect(stderr).not.toContain('..');
    return stdout + stderr;
  }

  it('allows the service everything that it does on a server, with the options of docs/operate/install.md', async () => {
    expect(options.length).toBeGreaterThan(1);
    const service = await startProcess({
      url,
      env: { SMS_SENDER: 'console', DEMO: '0' },
      nodeOptions: options,
    });
    try {
      for (const path of ['/readyz', '/docs', '/docs/guide', '/openapi.json', '/oauth/account'])
        expect((await fetch(service.baseUrl + path)).status, path).toBeLessThan(500);
      expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    expect(service.output()).not.toContain('ERR_ACCESS_DENIED');
  });

  it('is named with the missing option, if it denies a secret, an import or the file or package of SQLite', () => {
    const pepper = join(folder, 'pepper');
    writeFileSync(pepper, 'a pepper of at least 32 characters');
    const remedy = (option: string): string =>
      `add ${option} to the options of Node.js, for example in NODE_OPTIONS`;
    expect(failure('main', { env: { OTP_PEPPER_FILE: pepper } })).toContain(
      `OTP_PEPPER_FILE: the file ${pepper} cannot be read: the permission model of Node.js denies it; ${remedy(`--allow-fs-read=${pepper}`)}`,
    );
    expect(failure('cli', { args: ['user', 'import', join(folder, 'members.csv')] })).toContain(
      remedy(`--allow-fs-read=${join(folder, 'members.csv')}`),
    );
    const env = { DATABASE_URL: `sqlite:${join(folder, 'service.sqlite')}` };
    expect(failure('main', { env })).toBe(
      `The permission model of Node.js denies access to the database ${join(folder, 'service.sqlite')}: ${remedy(`--allow-fs-read=${join(folder, 'service.sqlite')}`)}.\n`,
    );
    const access = [`--allow-fs-read=${folder}/`, `--allow-fs-write=${folder}/`];
    expect(failure('main', { env, nodeOptions: [...options, ...access] })).toContain(
      `The permission model of Node.js denies it: ${remedy('--allow-addons')}.\n`,
    );
  });

  it.runIf(RESTRICTS_NETWORK)('is named if it denies the network', () => {
    const nodeOptions = options.filter((option) => option !== '--allow-net');
    const message = 'The permission model of Node.js denies it: add --allow-net to the options';
    expect(failure('main', { nodeOptions })).toContain(message);
    const doctor = failure('cli', { args: ['doctor'], nodeOptions });
    expect(doctor).toContain(message);
    expect(doctor).not.toContain('Check DATABASE_URL');
  });
});
