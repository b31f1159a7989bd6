import { CLEAR } from './terminal.js';

/** What a shell makes of SIGINT: 128 and its number. */
const INTERRUPTED = 130;

/**
 * Ends the process at Ctrl-C, in the middle of whatever it does: a transaction that has not committed is undone by the
 * database, and commands that write in batches go on from there when they are run again.
 */
export function endOnInterruption(): void {
  process.once('SIGINT', () => {
    const clear = process.stderr.isTTY ? CLEAR : '';
    const sentence =
      'Interrupted. What was done before stays; the step that was under way is undone.';
    process.stderr.write(`${clear}${sentence}\n`, () => process.exit(INTERRUPTED));
  });
}
