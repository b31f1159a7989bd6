import { FAILED, runCommandLine } from './cli/program.js';
import { CLEAR } from './cli/session.js';

/** The exit code of shells after SIGINT: 128 and its number. */
const INTERRUPTED = 130;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as "head" closes the pipe when it has enough.
  if (error.code !== 'EPIPE')
    process.stderr.write(`The result cannot be written: ${error.message}\n`);
  process.exit(FAILED);
});
// The database rolls back an open transaction, and a command that writes in batches can be repeated.
process.once('SIGINT', () => {
  const sentence =
    'Interrupted. What was done before stays; the step that was under way is undone.';
  process.stderr.write(`${process.stderr.isTTY ? CLEAR : ''}${sentence}\n`, () =>
    process.exit(INTERRUPTED),
  );
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// The connections of an application that failed to start cannot be closed and would keep the process alive.
if (process.exitCode === FAILED) process.stderr.write('', () => process.exit());
