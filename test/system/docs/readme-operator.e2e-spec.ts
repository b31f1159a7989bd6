import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteFile } from '../../support/database.js';
import { CLI, PastedCommands } from '../../support/operator-page.js';

/** Each command starts a process. */
const COMMANDS_MS = 90_000;

const readme = readFileSync('README.md', 'utf8');

/** The commands of the block that has this one, each with the words that a shell makes of it. */
function blockWith(command: string): string[] {
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.filter((block) => block.includes(command));
  expect(found).toHaveLength(1);
  return (found[0] ?? '').trim().split('\n');
}

describe("The operator's commands of the README", () => {
  const { url } = sqliteFile();

  const folder = dirname(url.slice('sqlite:'.length));
  const commands = new PastedCommands(folder, { DATABASE_URL: url, METRICS_PORT: 'off' });

  it(
    'migrate an empty database, and do what they say in their order',
    { timeout: COMMANDS_MS },
    async () => {
      const [migrate = '', serve] = blockWith('db migrate');
      expect(serve).toBe('node dist/src/bundle/main.js');
      await commands.run(migrate);
      const [create = '', ...others] = blockWith('app create');
      expect(others.length).toBeGreaterThan(8);
      const created = await commands.run(create);
      const clientId = /svc_app_\w{26}/.exec(created)?.[0] ?? '';
      expect(created).toContain('svc_sec_');
      const told = new Map<string, string>();
      for (const command of others) {
        expect(command.startsWith(CLI), command).toBe(true);
        told.set(command, await commands.run(command.replace('svc_app_…', clientId)));
      }
      const after = (words: string) => [...told].find(([command]) => command.includes(words))?.[1];
      expect(after('--public')).not.toContain('svc_sec_');
      expect(after('app list')).toContain('Garden Share on iOS');
      expect(after('app disable')).toContain('disabled');
      expect(after('secret rotate')).toContain('svc_sec_');
      expect(JSON.parse(after('quota show') ?? '')).toMatchObject({ limit: 500, remaining: 500 });
      expect(after('user add')).toContain('Cleo Park');
      expect(after('db check')).toBe('The database is what this version expects.\n');
      expect(after('audit list')).toMatch(/ {2}quota\.set\n[^]+ reason +Launch month\n/);
      expect(after('doctor')).toMatch(/^ok {7}migrations: /m);
    },
  );
});
