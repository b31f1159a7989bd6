import { spawn } from 'node:child_process';
import { Command } from 'commander';

const program = new Command('npm run test:faults --')
  .description(
    'Breaks the service, its database and its network in every way that we promise to survive, and prints a line of figures for each promise.',
  )
  .option('--quick', 'each fault a few times, in less than three minutes')
  .option('--write', 'write the figures to docs/reliability.md')
  .argument('[files...]', 'only those of test/faults/ whose path has one of these words')
  .addHelpText(
    'after',
    `
TEST_MYSQL_COMMAND names a command that starts MySQL where it is not installed: it understands start PORT, which prints the URL of
an administrator and passes on what MYSQL_ARGS says, and drop PORT, which ends the server and deletes its data. Each server has a
free port. Tests that need no server of their own run on one of these, too, unless TEST_DATABASE_URLS names others.

TEST_GROUP_COMMAND names a command that understands start, status and rejoin PORT: a group of three MySQL servers with a single
primary.

Where a command is not named, what needs it is reported as skipped.`,
  )
  .action((files, { quick, write }) => {
    const child = spawn('npx', ['vitest', 'run', ...(files.length > 0 ? files : ['test/faults'])], {
      env: {
        ...process.env,
        FAULTS: quick ? 'quick' : 'full',
        ...(write && { WRITE_PAGES: '1' }),
      },
      stdio: 'inherit',
    });
    child.once('exit', (code) => {
      process.exitCode = code ?? 1;
    });
  });

program.parse();
