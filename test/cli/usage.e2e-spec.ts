import { runCommand, runCommandProcess } from '../support/command-line.js';

const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';
/** Nothing may be opened for what fails before it starts. */
const NO_DATABASE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };
const create = (...more: string[]): string[] => [
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
const add = (...more: string[]): string[] => [
  'user',
  'add',
  '--phone',
  '+14155550101',
  '--name',
  'Ana Lee',
  ...more,
];

describe('The help of the command line', () => {
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
  ])('of "%s" starts with examples and names --json and --actor', async (words) => {
    const args = words.split(' ').filter((word) => word !== '');
    const { code, stdout, stderr } = await runCommand([...args, '--help'], NO_DATABASE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Examples:\n {2}\S/);
    expect(stdout).toContain(words);
    expect(stdout).toContain('--json');
    expect(stdout).toContain('--actor <name>');
  });

  it('comes without loading the application', async () => {
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now();
      await runCommandProcess(['--help'], NO_DATABASE);
      costs.push(performance.now() - started);
    }
    // The fastest, since other tests may have taken the processor from the others.
    expect(Math.min(...costs)).toBeLessThan(1000);
  });

  it('has no colours', async () => {
    const { stdout } = await runCommandProcess(['--help'], { FORCE_COLOR: '1' });
    expect(stdout).not.toContain('\u001b');
  });

  it('goes to standard error when no command is given', async () => {
    const { code, stdout, stderr } = await runCommandProcess([], NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

describe('A command that is used wrongly', () => {
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
    ['an option without its value', ['app', 'create', '--name']],
    ['a negative --limit', create('--limit', '-1')],
    ['a --limit that is no whole number', create('--limit', '1.5')],
    ['a --limit beyond what is stored', create('--limit', '2147483648')],
    ['a blank --reason', create('--reason', ' ')],
    ['a --reason of 501 characters', create('--reason', 'x'.repeat(501))],
    ['an --actor of 101 characters', create('--actor', 'x'.repeat(101))],
    ['an --actor with a control character', create('--actor', 'a\u001b[31m')],
    ['a --grace without a unit', ['app', 'secret', 'rotate', APP, '--grace', '24']],
    ['a --grace of years', ['app', 'secret', 'rotate', APP, '--grace', '9999d']],
    ['quota set without --limit and --plan', ['quota', 'set', APP]],
    ['a --period that is no month', ['quota', 'reconcile', '--period', '2026-13']],
    ['a --from that is no day', ['usage', 'rollup', '--from', '2026-02-30']],
    ['quota report as JSON and CSV', ['quota', 'report', '--json', '--csv']],
    ['quota set with both', ['quota', 'set', APP, '--limit', '5', '--plan', 'partner']],
    ['a missing --phone', ['user', 'add', '--name', 'Ana Lee']],
    ['a --phone that is none', ['user', 'add', '--phone', '555', '--name', 'Ana Lee']],
    ['a blank --name', ['user', 'add', '--phone', '+14155550101', '--name', '']],
    ['a --name of 201 characters', add('--name', 'x'.repeat(201))],
    ['a --latitude alone', add('--latitude', '1')],
    ['a --longitude alone', add('--longitude', '1')],
    ['a --latitude beyond the pole', add('--latitude', '90.1', '--longitude', '0')],
    ['a --longitude beyond the date line', add('--latitude', '0', '--longitude', '-180.1')],
    ['a --latitude that is no number', add('--latitude', 'north', '--longitude', '0')],
    ['an import without a file', ['user', 'import']],
    ['an import of a file whose name tells no format', ['user', 'import', 'members.xls']],
    ['an import in an unknown format', ['user', 'import', '-', '--format', 'xml']],
    ['an erasure of nobody', ['user', 'erase']],
    ['a --photo-url that is not http', add('--photo-url', 'ftp://example.com/a.jpg')],
  ])('exits with 2 and says why on standard error: %s', async (_title, args) => {
    const { code, stdout, stderr } = await runCommand(args, NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: |Usage:/m);
    expect(stderr).not.toMatch(/:\d+:\d+\)?$/m);
  });
});

describe('A command that cannot start', () => {
  it('exits with 1 and names the setting that is wrong', async () => {
    const { code, stdout, stderr } = await runCommandProcess(['app', 'list'], {
      DATABASE_URL: 'postgres://x',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('DATABASE_URL: must be');
  });

  it('exits with 1 and one sentence when the database is away', async () => {
    const { code, stdout, stderr } = await runCommandProcess(
      ['app', 'list', '--json'],
      NO_DATABASE,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^The database of DATABASE_URL cannot be reached: .+\n$/);
  });
});
