import { runCommand } from '../support/command-line.js';

const APP = 'svc_app_01h455vb4pex5vsknk084sn02q';
const USER = 'usr_01h455vb4pex5vsknk084sn02q';
/** A command that fails before it needs a database must not open one. */
const NO_DATABASE = { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' };
const appCreate = (...more: string[]): string[] => [
  ...['app', 'create', '--name', 'Garden Share', '--scope', 'posts.read'],
  ...['--redirect-uri', 'https://garden.example/callback', ...more],
];
const userAdd = (...more: string[]): string[] => [
  ...['user', 'add', '--phone', '+14155550101', '--name', 'Ana Lee', ...more],
];

describe('Usage errors of the command line', () => {
  it.each<[title: string, args: string[], sentence?: string]>([
    ['a misspelt command', ['aud'], 'Did you mean audit?'],
    ['a misspelt command of a group', ['app', 'lst'], 'Did you mean list?'],
    ['a misspelt option', ['app', 'list', '--jsn'], 'Did you mean --json?'],
    ['a missing client_id', ['app', 'show'], "missing required argument 'client_id'"],
    [
      'a missing secret_id',
      ['app', 'secret', 'revoke', 'svc_app_x'],
      "missing required argument 'secret_id'",
    ],
    ['a missing --phone', ['user', 'add'], "required option '--phone <number>' not specified"],
    ['no command', []],
    ['an unknown command', ['frobnicate']],
    ['an unknown command of a group', ['app', 'frobnicate']],
    ['a group without a command', ['app']],
    ['an unknown option', ['app', 'list', '--frobnicate']],
    ['an argument too many', ['app', 'list', 'everything']],
    ['a client secret of your own', appCreate('--client-secret', 'mine')],
    ['another client secret of your own', ['app', 'secret', 'rotate', APP, '--secret', 'mine']],
    ['a client secret as an argument', ['app', 'secret', 'rotate', APP, 'mine']],
    ['a blank --name of an app', ['app', 'update', APP, '--name', ' ']],
    ['a client type, which cannot change', ['app', 'update', APP, '--public']],
    ['a token as an argument', ['token', 'revoke', `svcat_${'x'.repeat(43)}`]],
    ['a change of the phone without the number', ['user', 'change-phone', USER]],
    ['--phone with --none', ['user', 'change-phone', USER, '--phone', '+14155559012', '--none']],
    ['an invalid --phone of a change', ['user', 'change-phone', USER, '--phone', '555']],
    ['user show without an id and a phone', ['user', 'show']],
    ['user show with an id and a phone', ['user', 'show', USER, '--phone', '+14155550142']],
    ['user show with an invalid phone', ['user', 'show', '--phone', '555']],
    ['user unlock without an id', ['user', 'unlock']],
    ['session list without --user', ['session', 'list']],
    ['grant list without --user and --app', ['grant', 'list']],
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
    ['a negative --grace', ['app', 'secret', 'rotate', APP, '--grace', '-1h']],
    ['a --grace above the maximum', ['app', 'secret', 'rotate', APP, '--grace', '9999d']],
    ['quota set without --limit and --plan', ['quota', 'set', APP]],
    ['a --period that is not a month', ['quota', 'reconcile', '--period', '2026-13']],
    ['a --from that is not a date', ['usage', 'rollup', '--from', '2026-02-30']],
    ['quota report with --json and --csv', ['quota', 'report', '--json', '--csv']],
    [
      'quota set with --limit and --plan',
      ['quota', 'set', APP, '--limit', '5', '--plan', 'partner'],
    ],
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
  ])('exit with 2 and print the reason on standard error: %s', async (_title, args, sentence) => {
    const { code, stdout, stderr } = await runCommand(args, NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: |Usage:/m);
    if (sentence !== undefined) expect(stderr).toContain(sentence);
    if (sentence !== undefined) expect(stderr).toContain('Add --help to see examples.');
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
