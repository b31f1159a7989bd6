import { FAILED, runCommandLine } from './command-line-program.js';

// A reader such as "head" may leave before everything is written.
process.stdout.on('error', () => process.exit(FAILED));

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// An application that failed while it started cannot be closed, and its connections would keep the process alive.
if (process.exitCode === FAILED) process.stderr.write('', () => process.exit());
