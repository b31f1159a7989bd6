import { spawn } from 'node:child_process';
import { Command, Option } from 'commander';

/** What a whole run may take, in minutes, and on what. */
const PROMISED = {
  full: { most: 20, on: 'two cores' },
  quick: { most: 3, on: 'two cores with SQLite and one database server' },
};

const program = new Command('npm run test:faults --')
  .description(
    'Breaks the service, its database and its network in every way that we promise to survive, and prints a line of figures for each promise.',
  )
  .option('--quick', 'each fault a few times')
  .addOption(
    new Option(
      '--write',
      'write the figures of a whole run that passes to docs/reliability.md; only the audit may be skipped, when the registry does not answer',
    ).conflicts('quick'),
  )
  .argument('[files...]', 'only those of test/faults/ whose path has one of these words')
  .addHelpText(
    'after',
    `
A whole run, without [files...], says how long it took, and whether that is more than promised: ${told('full')},
and with --quick ${told('quick')}.

TEST_MYSQL_COMMAND names a command that starts MySQL where it is not installed: it understands start PORT, which prints the URL of
an administrator and passes on what MYSQL_ARGS says, and drop PORT, which ends the server and deletes its data. Where it does not
understand drop (the exit code is not 0), it is told stop PORT, and its data stay. Each server has a free port. Tests that need no
server of their own run on one of these, too, unless TEST_DATABASE_URLS names others.

TEST_GROUP_COMMAND names a command that understands start, status and rejoin PORT: a group of three MySQL servers on this machine
with a single primary, whose root needs no password there. The first two print a line for each, with its port, state and role, such
as 3311 ONLINE PRIMARY. A group that runs is used; servers that are missing in it are told to rejoin. It runs on afterwards.

Servers of either command run on this machine as mysqld --port=PORT, by which they are found and killed.

Where a command is not named, what needs it is reported as skipped.`,
  )
  .action((files, { quick, write }) => {
    if (write && files.length > 0)
      program.error('--write keeps the figures of a whole run: leave out [files...].');
    const mode = quick ? 'quick' : 'full';
    const startedAt = performance.now();
    const child = spawn('npx', ['vitest', 'run', ...(files.length > 0 ? files : ['test/faults'])], {
      env: {
        ...process.env,
        FAULTS: mode,
        ...(write && { WRITE_PAGES: '1' }),
      },
      stdio: 'inherit',
    });
    child.once('exit', (code) => {
      process.exitCode = code ?? 1;
      if (files.length === 0) sayDuration(mode, performance.now() - startedAt);
    });
  });

function told(mode) {
  const { most, on } = PROMISED[mode];
  return `${most} minutes on ${on}`;
}

/** How long a whole run took, which tells of the machine, too: so one that is late does not fail. */
function sayDuration(mode, tookMs) {
  const seconds = Math.ceil(tookMs / 1000);
  const isLate = seconds > PROMISED[mode].most * 60;
  const verdict = isLate ? `, which is more than promised: ${told(mode)}` : '';
  process.stdout.write(
    `The whole run took ${Math.floor(seconds / 60)} min ${seconds % 60} s${verdict}.\n`,
  );
}

program.parse();
