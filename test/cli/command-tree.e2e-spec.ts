import { commandTree, optionsOf, runCommand } from '../support/command-line.js';

const { groups, leaves } = commandTree();
const PROGRAM = '  npm run -s cli -- ';
/** A valid command fails with 1 because it cannot load this configuration; a usage error fails with 2. */
const NO_CONFIGURATION = { DATABASE_URL: 'none' };

/** Commands without --reason: they change nothing, except that `demo token` stores an access token. */
const WITHOUT_REASON = [
  ...['app list', 'app show', 'app secret list', 'audit list', 'quota show'],
  ...['quota report', 'user show', 'user export'],
  ...['db status', 'db check', 'demo token'],
];
/** Commands that can show what they would do. */
const WITH_DRY_RUN = ['prune', 'user erase', 'user import'];

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
      expect(rest.join('\n')).toContain('--json');
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
      expect({ code, stderr }, example).toMatchObject({ code: 1 });
    }
  });

  it('accept --reason if they change something', () => {
    const without = leaves.filter((one) => !optionsOf(one).includes('--reason'));
    expect(pathsOf(without).toSorted()).toEqual(WITHOUT_REASON.toSorted());
  });

  it.each(WITH_DRY_RUN)('"%s" accepts --dry-run', (path) => {
    expect(optionsOf(leaf(path))).toContain('--dry-run');
  });

  it('have a main help that fits on one screen', async () => {
    const { examples, rest } = await help('');
    expect(examples.length + rest.length).toBeLessThan(40);
    for (const example of examples) expect(example.length).toBeLessThanOrEqual(80);
  });
});

describe('Usage errors', () => {
  it.each([
    [['aud'], 'Did you mean audit?'],
    [['app', 'lst'], 'Did you mean list?'],
    [['app', 'list', '--jsn'], 'Did you mean --json?'],
    [['app', 'show'], "missing required argument 'client_id'"],
    [['app', 'secret', 'revoke', 'svc_app_x'], "missing required argument 'secret_id'"],
    [['user', 'add'], "required option '--phone <number>' not specified"],
  ])(
    '%j prints the likely word, or the missing argument or option, and how to see examples',
    async (words, sentence) => {
      const { code, stdout, stderr } = await runCommand(words, NO_CONFIGURATION);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(sentence);
      expect(stderr).toContain('Add --help to see examples.');
    },
  );
});
