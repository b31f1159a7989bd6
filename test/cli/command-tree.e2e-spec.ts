import { commandTree, optionsOf, runCommand } from '../support/command-line.js';

const { groups, leaves } = commandTree();
const PROGRAM = '  npm run -s cli -- ';
/** What is read right and then wants its application ends with 1; what is used wrongly with 2. */
const NO_CONFIGURATION = { DATABASE_URL: 'none' };

/** Commands that take no --reason, as they change nothing that an operator would have to give a reason for. */
const WITHOUT_REASON = [
  ...['app list', 'app show', 'app secret list', 'audit list', 'quota show'],
  ...['quota report', 'user show', 'user export'],
  ...['db status', 'db check', 'demo token'],
];
/** Commands that delete rows. */
const DELETING = ['prune', 'user erase'];

const cases = (all: readonly { path: string }[]): string[] => all.map(({ path }) => path);
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

/** The words of an example as a shell makes them, up to a pipe or a redirection. */
function wordsOf(example: string): string[] {
  const [command = ''] = example.slice(PROGRAM.length).split(/ [|<>] /);
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}

describe('Every command', () => {
  it.each(cases(leaves))('"%s" says in one line of its group what it does', async (path) => {
    const { summary, command } = leaf(path);
    expect(summary).toMatch(/^[A-Z].*\.$/);
    const group = path.split(' ').slice(0, -1).join(' ');
    const lines = (await help(group)).rest;
    const line = lines.find((one) => one.startsWith(`  ${command.name()} `)) ?? '';
    expect(line.endsWith(` ${summary}`), line).toBe(true);
  });

  it.each(cases([...groups, ...leaves]))('"%s" has a help of 80 columns', async (path) => {
    const { rest } = await help(path);
    expect(rest.filter((line) => line.length > 80)).toEqual([]);
    expect(rest.join('\n')).toContain('--json');
  });

  it.each(cases(leaves))('"%s" shows examples of itself that are read right', async (path) => {
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

  it('takes a reason where it changes something', () => {
    const without = leaves.filter((one) => !optionsOf(one).includes('--reason'));
    expect(cases(without).toSorted()).toEqual(WITHOUT_REASON.toSorted());
  });

  it.each(DELETING)('"%s" can be tried with --dry-run', (path) => {
    expect(optionsOf(leaf(path))).toContain('--dry-run');
  });

  it('is found from a help that fits on one screen', async () => {
    const { examples, rest } = await help('');
    expect(examples.length + rest.length).toBeLessThan(40);
    for (const example of examples) expect(example.length).toBeLessThanOrEqual(80);
  });
});

describe('A mistake in typing', () => {
  it.each([
    [['aud'], 'Did you mean audit?'],
    [['app', 'lst'], 'Did you mean list?'],
    [['app', 'list', '--jsn'], 'Did you mean --json?'],
    [['app', 'show'], "missing required argument 'client_id'"],
    [['app', 'secret', 'revoke', 'svc_app_x'], "missing required argument 'secret_id'"],
    [['user', 'add'], "required option '--phone <number>' not specified"],
  ])('%j is answered with what was meant, and where the examples are', async (words, sentence) => {
    const { code, stdout, stderr } = await runCommand(words, NO_CONFIGURATION);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr).toContain('Add --help to see examples.');
  });
});
