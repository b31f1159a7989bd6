import { spawn } from 'node:child_process';
import { Command, Option } from 'commander';

/** How long a run may take on two cores, in minutes. A longer run prints a note but does not fail. */
const LIMITS = {
  system: { whole: 25, quick: 8 },
  faults: { whole: 20, quick: 3 },
};

const program = new Command('test/run.js').description(
  'Runs a test suite that is longer than `npm test`.',
);

program
  .command('system')
  .usage('[options] [files...]')
  .description(
    'Tests the whole system: real processes, browsers, client libraries, races, every database engine.',
  )
  .option(
    '--quick',
    'as in CI: fewer repetitions, one database server, no browser but Chromium, no races, loads, code generators, MCP tools of generators, JavaScript libraries, programs that repeat requests or check tokens, packages, operating instructions, changes of the document, and what waits long for real timeouts; the tests of `npm test` are not repeated on other database engines',
  )
  .argument('[files...]', 'only files of test/system/ whose path contains one of these words')
  .addHelpText('after', limitsOf('system'))
  .action((files, { quick }) => run('system', files, { quick }));

program
  .command('faults')
  .usage('[options] [files...]')
  .description(
    'Injects the faults of docs/reliability.md into the service, its database and its network. Prints the measured figures.',
  )
  .option('--quick', 'as in CI: each fault only a few times')
  .addOption(
    new Option(
      '--write',
      'write the figures to docs/reliability.md if the whole run passes; only the test of npm audit may be skipped, if the registry does not respond',
    ).conflicts('quick'),
  )
  .argument('[files...]', 'only files of test/faults/ whose path contains one of these words')
  .addHelpText(
    'after',
    `${limitsOf('faults')}
If MySQL is not installed, TEST_MYSQL_COMMAND names a command that starts it. "start PORT" starts a server with the options
in MYSQL_ARGS and prints its URL, with the credentials of an administrator. "drop PORT" stops the server and deletes its data. If the
command does not support "drop", the tests use "stop PORT", which keeps the data. Each server gets a free port. Tests that need no
server of their own share one that this command starts, unless TEST_DATABASE_URLS names others.

TEST_GROUP_COMMAND names a command that supports "start", "status" and "rejoin PORT" for a group of three MySQL servers on this
machine, with a single primary and a root user without a password. "start" and "status" print a line for each server, such
as "3311 ONLINE PRIMARY". If the group is already running, the tests call "rejoin" for its missing servers, and leave it running.

TEST_GALERA_COMMAND names a command that supports "start" and "status" for a Galera cluster of three MariaDB servers on this machine,
with a root user without a password. Both print a line for each server, such as "3321 Synced".

Servers of the first two commands must run on this machine as mysqld --port=PORT, so that the tests can find and kill them.
If a command is not set, the tests that need it are skipped.`,
  )
  .action((files, { quick, write }) => {
    if (write && files.length > 0) program.error('--write needs a whole run: omit [files...].');
    run('faults', files, { quick, write });
  });

function run(suite, files, { quick, write = false }) {
  const extent = quick ? 'quick' : 'whole';
  const startedAt = performance.now();
  const child = spawn('npx', ['vitest', 'run', ...files], {
    env: {
      ...process.env,
      TEST_SUITE: suite,
      TEST_EXTENT: extent,
      ...(write && { WRITE_PAGES: '1' }),
    },
    stdio: 'inherit',
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
    if (files.length === 0) printDuration(suite, extent, performance.now() - startedAt);
  });
}

/** Prints the duration. It depends on the machine, so the limit does not fail the run. */
function printDuration(suite, extent, milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  const limit = LIMITS[suite][extent];
  const verdict = seconds > limit * 60 ? `, over the limit of ${limit} minutes on two cores` : '';
  process.stdout.write(`Duration: ${Math.floor(seconds / 60)} min ${seconds % 60} s${verdict}.\n`);
}

function limitsOf(suite) {
  const { whole, quick } = LIMITS[suite];
  return `
A whole run should take at most ${whole} minutes on two cores; with --quick, SQLite and one database server, at most ${quick} minutes.
`;
}

program.parse();
