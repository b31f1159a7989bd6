import './platform/compile-cache.js';
import { FAILED, INTERRUPTED, runCommandLine } from './cli/program.js';
import { CLEAR_LINE } from './cli/session.js';

/** The exit codes of shells after these signals: 128 and the number of the signal. */
const EXIT_CODES = { SIGINT: INTERRUPTED, SIGTERM: 143 } as const;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE: the reader, such as "head", closed the pipe.
  if (error.code !== 'EPIPE')
    process.stderr.write(`The result cannot be written: ${error.message}\n`);
  process.exit(FAILED);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Without a handler, the first process of a container ignores the signal.
  process.once(signal, () => {
    const message =
      'Interrupted. Completed steps are stored; the database rolls back the current step.';
    process.stderr.write(`${process.stderr.isTTY ? CLEAR_LINE : ''}${message}\n`, () =>
      process.exit(EXIT_CODES[signal]),
    );
  });
}

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// Exits explicitly, because an application that failed to start may leave connections open. The empty write calls back once the
// messages before it are written.
if (process.exitCode === FAILED) process.stderr.write('', () => process.exit());
