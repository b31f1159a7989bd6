import { commandTree, optionsOf, runCommand } from '../support/command-line.js';

const { groups, leaves } = commandTree();
const PROGRAM = '  devplatform ';
/** A valid command fails with 1 because it cannot load this configuration; a usage error fails with 2. */
const NO_CONFIGURATION = { DATABASE_URL: 'none' };

/** Commands without --reason: they change nothing, except that `demo token` stores an access token and `app webhook test` an event. */
const WITHOUT_REASON = [
  ...['app list', 'app show', 'app secret list', 'audit list', 'comment list', 'completion'],
  ...['app webhook show', 'app webhook deliveries', 'app webhook test'],
  ...['quota show', 'quota report', 'usage report', 'user show', 'post list', 'post show'],
  ...['request list', 'request show', 'user list', 'user search'],
  ...['grant list', 'otp report', 'session list'],
  ...['db status', 'db check', 'demo token'],
];
/** Commands that can show what they would do. */
const WITH_DRY_RUN = [
  ...[
    'app disable',
    'app reset',
    'app revoke-all',
    'db revert',
    'prune',
    'user erase',
    'user import',
    'user revoke-all',
  ],
];
/** Commands that take access or data away, or change what an app may do. */
const ASKING = [
  ...['app disable', 'app reset', 'app revoke-all', 'app secret revoke', 'app secret rotate'],
  ...[
    'app webhook disable',
    'app update',
    'comment remove',
    'db revert',
    'grant revoke',
    'post remove',
  ],
  ...['quota reconcile', 'quota set', 'session end', 'token revoke'],
  ...['user block', 'user change-phone', 'user erase', 'user import', 'user revoke-all'],
];

/** Without a configuration. `completion` needs none. */
const exitCodeOf = (path: string): number => (path === 'completion' ? 0 : 1);

const pathsOf = (entries: readonly { path: string }[]): string[] => entries.map(({ path }) => path);
function leaf(path: string) {
  const found = leaves.find((one) => one.path === path);
  if (!found) throw new Error(`There is no command "${path}".`);
  return found;
}

async function help(path: string): Promise<{ examples: string[]; rest: string[] }> {
  const words = path.split(' ').filter((word) => word !== '');
  const { code, stdout } = await runCommand([...words, '--help'], NO_CONFIGURATION);
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('Examples:');
  const end = lines.indexOf('');
  return { examples: lines.slice(1, end), rest: lines.slice(end) };
}

/** The words of an example as a shell splits them, up to a pipe or a redirection. */
function wordsOf(example: string): string[] {
  const [command = ''] = example.slice(PROGRAM.length).split(/ [|<>] /);
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}

describe('Commands and their help', () => {
  it.each(pathsOf(leaves))(
    '"%s" has a summary of one line in the help of its group',
    async (path) => {
      const { summary, command } = leaf(path);
      expect(summary).toMatch(/^[A-Z].*\.$/);
      const group = path.split(' ').slice(0, -1).join(' ');
      const lines = (await help(group)).rest;
      const line = lines.find((one) => one.startsWith(`  ${command.name()} `)) ?? '';
      expect(line.endsWith(` ${summary}`), line).toBe(true);
    },
  );

  it.each(pathsOf([...groups, ...leaves]))(
    '"%s" has a help of at most 80 columns',
    async (path) => {
      const { rest } = await help(path);
      expect(rest.filter((line) => line.length > 80)).toEqual([]);
      for (const option of ['--json', '--actor <name>']) expect(rest.join('\n')).toContain(option);
    },
  );

  it.each(pathsOf(leaves))('"%s" has valid examples of itself in its help', async (path) => {
    const { examples } = await help(path);
    const own = examples.filter((line) => line.startsWith(PROGRAM));
    expect(own.length).toBeGreaterThan(0);
    for (const example of own) {
      const words = wordsOf(example);
      expect(`${words.join(' ')} `).toContain(`${path} `);
      const { code, stderr } = await runCommand(words, NO_CONFIGURATION);
      expect({ code, stderr }, example).toMatchObject({ code: exitCodeOf(path) });
    }
  });

  it.each(pathsOf(leaves))('"%s" names the members of its JSON in its help', async (path) => {
    const { jsonMembers = '' } = leaf(path).command;
    expect(jsonMembers).toMatch(/^\[?\{.+\}/);
    const text = (await help(path)).rest.join(' ');
    expect(text).toContain(`JSON: ${jsonMembers} `);
  });

  it('accept --reason if they change something', () => {
    const without = leaves.filter((one) => !optionsOf(one).includes('--reason'));
    expect(pathsOf(without).toSorted()).toEqual(WITHOUT_REASON.toSorted());
  });

  it('say in their help that they ask for confirmation', async () => {
    const asking = leaves.filter(({ command }) => command.confirmation !== undefined);
    expect(pathsOf(asking).toSorted()).toEqual(ASKING.toSorted());
    for (const { path } of asking) {
      const text = (await help(path)).rest.join(' ').replaceAll(/ +/g, ' ');
      expect(text).toMatch(
        / (Asks|asks) for confirmation at a terminal, and requires --yes elsewhere\. /,
      );
    }
  });

  it.each(pathsOf(leaves))('"%s" accepts --yes before and after its name', async (path) => {
    const { examples } = await help(path);
    const [example = ''] = examples.filter((line) => line.startsWith(PROGRAM));
    const words = wordsOf(example).filter((word) => word !== '--yes');
    for (const args of [
      ['--yes', ...words],
      [...words, '--yes'],
    ])
      expect(await runCommand(args, NO_CONFIGURATION), args.join(' ')).toMatchObject({
        code: exitCodeOf(path),
      });
  });

  it('accept --dry-run if they may delete or revoke many rows', () => {
    const accepting = leaves.filter((one) => optionsOf(one).includes('--dry-run'));
    expect(pathsOf(accepting).toSorted()).toEqual(WITH_DRY_RUN);
  });

  it('have a main help that fits on one screen', async () => {
    const { examples, rest } = await help('');
    expect(examples.length + rest.length).toBeLessThan(44);
    for (const example of examples) expect(example.length).toBeLessThanOrEqual(80);
  });
});
