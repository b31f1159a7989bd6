import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { sqliteFile } from '../../support/engines.js';

const readme = readFileSync('README.md', 'utf8');
/** What a stranger's `npm run -s cli --` comes to, without the time that npm takes. */
const [CLI, PROGRAM] = ['npm run -s cli --', 'node dist/src/cli.js'];

/** The commands of the block that has this one, each with the words that a shell makes of it. */
function blockWith(command: string): string[] {
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.filter((block) => block.includes(command));
  expect(found).toHaveLength(1);
  return (found[0] ?? '').trim().split('\n');
}

describe("The operator's commands of the README", () => {
  const { url } = sqliteFile();

  async function run(command: string): Promise<string> {
    expect(inject('buildFailure')).toBeNull();
    const { stdout } = await promisify(execFile)('bash', ['-c', command.replace(CLI, PROGRAM)], {
      env: { PATH: process.env.PATH, DATABASE_URL: url, NO_COLOR: '1' },
    });
    return stdout;
  }

  it('migrate an empty database, and do what they say in their order', async () => {
    const [migrate = '', serve] = blockWith('db migrate');
    expect(serve).toBe('npm run start:prod');
    await run(migrate);
    const [create = '', ...others] = blockWith('app create');
    expect(others.length).toBeGreaterThan(8);
    const created = await run(create);
    const clientId = /svc_app_\w{26}/.exec(created)?.[0] ?? '';
    expect(created).toContain('svc_sec_');
    const told = new Map<string, string>();
    for (const command of others) {
      expect(command.startsWith(CLI), command).toBe(true);
      told.set(command, await run(command.replace('svc_app_…', clientId)));
    }
    const after = (words: string) => [...told].find(([command]) => command.includes(words))?.[1];
    expect(after('--public')).not.toContain('svc_sec_');
    expect(after('app list')).toContain('Garden Share on iOS');
    expect(after('app disable')).toContain('disabled');
    expect(after('secret rotate')).toContain('svc_sec_');
    expect(JSON.parse(after('quota show') ?? '')).toMatchObject({ limit: 500, remaining: 500 });
    expect(after('user add')).toContain('Cleo Park');
  });
});
