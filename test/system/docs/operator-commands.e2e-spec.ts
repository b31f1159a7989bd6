import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteFile } from '../../support/database.js';
import { CLI, PastedCommands } from '../../support/operate-guide.js';

/** The timeout of a test that runs commands, each in a new process. */
const COMMANDS_TIMEOUT_MS = 90_000;

const pages = readFileSync('README.md', 'utf8') + readFileSync('docs/cli.md', 'utf8');

/** The commands of the code block that contains `command`. Exactly one block of the pages must contain it. */
function blockWith(command: string): string[] {
  const blocks = [...pages.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const found = blocks.filter((block) => block.includes(command));
  expect(found).toHaveLength(1);
  return (found[0] ?? '').trim().split('\n');
}

describe('Operator commands of the documentation', () => {
  const { url } = sqliteFile();

  const folder = dirname(url.slice('sqlite:'.length));
  const commands = new PastedCommands(folder, { DATABASE_URL: url, METRICS_PORT: 'off' });

  it('migrate an empty database and work in order', { timeout: COMMANDS_TIMEOUT_MS }, async () => {
    const [migrate = '', serve] = blockWith('db migrate');
    expect(serve).toBe('node dist/src/bundle/main.js');
    await commands.run(migrate);
    const [create = '', ...others] = blockWith('app create');
    expect(others.length).toBeGreaterThan(8);
    const created = await commands.run(create);
    const clientId = /svc_app_\w{26}/.exec(created)?.[0] ?? '';
    expect(created).toContain('svc_sec_');
    const outputs = new Map<string, string>();
    for (const command of others) {
      expect(command.startsWith(CLI), command).toBe(true);
      outputs.set(command, await commands.run(command.replace('svc_app_…', clientId)));
    }
    const outputOf = (words: string) =>
      [...outputs].find(([command]) => command.includes(words))?.[1];
    expect(outputOf('--public')).not.toContain('svc_sec_');
    expect(outputOf('app list')).toContain('Garden Share on iOS');
    expect(outputOf('app disable')).toContain('disabled');
    expect(outputOf('secret rotate')).toContain('svc_sec_');
    expect(JSON.parse(outputOf('quota show') ?? '')).toMatchObject({ limit: 500, remaining: 500 });
    expect(outputOf('user add')).toContain('Cleo Park');
    expect(outputOf('db check')).toBe('The schema matches this version.\n');
    expect(outputOf('audit list')).toMatch(/ {2}quota\.set .* reason: Launch month, .*\n/);
    expect(outputOf('doctor')).toMatch(/^ok {7}migrations: /m);
  });
});
