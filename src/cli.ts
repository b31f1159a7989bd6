import { FAILED, runCommandLine } from './cli/program.js';
import { CLEAR_LINE } from './cli/session.js';

/** The exit code of shells after SIGINT: 128 + 2. */
const INTERRUPTED = 130;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE: the reader, such as "head", closed the pipe.
  if (error.code !== 'EPIPE')
    process.stderr.write(`The result cannot be written: ${error.message}\n`);
  process.exit(FAILED);
});
process.once('SIGINT', () => {
  const message =
    'Interrupted. Completed steps are stored; the database rolls back the current step.';
  process.stderr.write(`${process.stderr.isTTY ? CLEAR_LINE : ''}${message}\n`, () =>
    process.exit(INTERRUPTED),
  );
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// Exits explicitly, because an application that failed to start may leave connections open. The empty write calls back once the
// messages before it are written.
if (process.exitCode === FAILED) process.stderr.write('', () => process.exit());
