import { FAILED, runCommandLine } from './cli/program.js';
import { endOnInterruption } from './cli/command-runner.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as "head" may leave before everything is written, and wants to hear no more.
  if (error.code !== 'EPIPE')
    process.stderr.write(`The result cannot be written: ${error.message}\n`);
  process.exit(FAILED);
});
endOnInterruption();

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// An application that failed while it started cannot be closed, and its connections would keep the process alive.
if (process.exitCode === FAILED) process.stderr.write('', () => process.exit());
