import { runCommand } from '../support/command-line.js';

const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';
/** A command that fails before it needs a database must not open one. */
const NO_DATABASE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };
const appCreate = (...more: string[]): string[] => [
  'app',
  'create',
  '--name',
  'Garden Share',
  '--redirect-uri',
  'https://garden.example/callback',
  '--scope',
  'posts.read',
  ...more,
];
const userAdd = (...more: string[]): string[] => [
  'user',
  'add',
  '--phone',
  '+14155550101',
  '--name',
  'Ana Lee',
  ...more,
];

describe('Help of the command line', () => {
  it.each([
    '',
    'app',
    'app create',
    'app list',
    'app show',
    'app disable',
    'app enable',
    'app secret',
    'app secret rotate',
    'quota',
    'quota show',
    'quota set',
    'quota reset',
    'quota report',
    'quota reconcile',
    'usage',
    'usage rollup',
    'user',
    'user add',
    'user import',
    'user show',
    'user block',
    'user unblock',
    'user revoke-all',
    'user export',
    'user erase',
    'token',
    'token revoke',
    'db',
    'db migrate',
    'db status',
    'prune',
    'demo',
    'demo token',
  ])('of "%s" starts with examples and lists --json and --actor', async (words) => {
    const args = words.split(' ').filter((word) => word !== '');
    const { code, stdout, stderr } = await runCommand([...args, '--help'], NO_DATABASE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Examples:\n {2}\S/);
    expect(stdout).toContain(words);
    expect(stdout).toContain('--json');
    expect(stdout).toContain('--actor <name>');
  });

  it('goes to standard error when no command is given', async () => {
    const { code, stdout, stderr } = await runCommand([], NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

describe('Usage errors of the command line', () => {
  it.each([
    ['an unknown command', ['frobnicate']],
    ['an unknown command of a group', ['app', 'frobnicate']],
    ['a group without a command', ['app']],
    ['an unknown option', ['app', 'list', '--frobnicate']],
    ['an argument too many', ['app', 'list', 'everything']],
    ['a missing client_id', ['app', 'show']],
    ['a missing --name', ['app', 'create', '--redirect-uri', 'https://a.example', '--scope', 'x']],
    ['a missing --redirect-uri', ['app', 'create', '--name', 'A', '--scope', 'posts.read']],
    ['a missing --scope', ['app', 'create', '--name', 'A', '--redirect-uri', 'https://a.example']],
    ['an option without a value', ['app', 'create', '--name']],
    ['a negative --limit', appCreate('--limit', '-1')],
    ['a --limit that is not an integer', appCreate('--limit', '1.5')],
    ['a --limit above the maximum', appCreate('--limit', '2147483648')],
    ['a blank --reason', appCreate('--reason', ' ')],
    ['a --reason of 501 characters', appCreate('--reason', 'x'.repeat(501))],
    ['an --actor of 101 characters', appCreate('--actor', 'x'.repeat(101))],
    ['an --actor with a control character', appCreate('--actor', 'a\u001b[31m')],
    ['a --grace without a unit', ['app', 'secret', 'rotate', APP, '--grace', '24']],
    ['a --grace above the maximum', ['app', 'secret', 'rotate', APP, '--grace', '9999d']],
    ['quota set without --limit and --plan', ['quota', 'set', APP]],
    ['a --period that is not a month', ['quota', 'reconcile', '--period', '2026-13']],
    ['a --from that is not a date', ['usage', 'rollup', '--from', '2026-02-30']],
    ['quota report with --json and --csv', ['quota', 'report', '--json', '--csv']],
    [
      'quota set with --limit and --plan',
      ['quota', 'set', APP, '--limit', '5', '--plan', 'partner'],
    ],
    ['a missing --phone', ['user', 'add', '--name', 'Ana Lee']],
    ['an invalid --phone', ['user', 'add', '--phone', '555', '--name', 'Ana Lee']],
    ['a blank --name', ['user', 'add', '--phone', '+14155550101', '--name', '']],
    ['a --name of 201 characters', userAdd('--name', 'x'.repeat(201))],
    ['a --latitude without --longitude', userAdd('--latitude', '1')],
    ['a --longitude without --latitude', userAdd('--longitude', '1')],
    ['a --latitude above 90', userAdd('--latitude', '90.1', '--longitude', '0')],
    ['a --longitude below -180', userAdd('--latitude', '0', '--longitude', '-180.1')],
    ['a --latitude that is not a number', userAdd('--latitude', 'north', '--longitude', '0')],
    ['an import without a file', ['user', 'import']],
    ['an import of a file with an unknown extension', ['user', 'import', 'members.xls']],
    ['an import in an unknown format', ['user', 'import', '-', '--format', 'xml']],
    ['an erasure without a user id', ['user', 'erase']],
    ['a --photo-url that is not http', userAdd('--photo-url', 'ftp://example.com/a.jpg')],
  ])('exit with 2 and print the reason on standard error: %s', async (_title, args) => {
    const { code, stdout, stderr } = await runCommand(args, NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: |Usage:/m);
    // No line of a stack trace.
    expect(stderr).not.toMatch(/:\d+:\d+\)?$/m);
  });
});

describe('Start of a command', () => {
  it('exits with 1 and names the invalid setting', async () => {
    const { code, stdout, stderr } = await runCommand(['app', 'list'], {
      DATABASE_URL: 'postgres://x',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('DATABASE_URL: must start with');
  });

  it('exits with 1 and one sentence when the database cannot be reached', async () => {
    const { code, stdout, stderr } = await runCommand(['app', 'list', '--json'], NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^The database of DATABASE_URL cannot be reached: .+\n$/);
  });
});
