import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} check a shell command
 * @property {string} [fix] a shell command that corrects what `check` finds
 * @property {string} [needs] the name of an earlier step of the same list, without whose success this step cannot run
 */

/**
 * Runs each list of steps in order, and the lists at the same time. With `isFixing`, runs the commands that correct, where there are
 * any, and one list after the other, since some commands write files that others read. A failed step stops only the steps that need
 * it. Prints the result and the output of each step in the order of the lists, and the failures at the end.
 * @param {Step[][]} lists
 * @param {{ isFixing: boolean, print: (text: string) => void }} options
 * @returns {Promise<boolean>} whether all steps passed
 */
export async function runSteps(lists, { isFixing, print }) {
  /** The reason of each failure, by the name of the step. */
  const failures = new Map();
  const results = (isFixing ? [lists.flat()] : lists).flatMap((steps) => {
    let previous = Promise.resolve();
    return steps.map((step) => (previous = previous.then(() => runStep(step, isFixing, failures))));
  });
  for (const result of results) print(await result);
  const names = lists.flat().map(({ name }) => name);
  const failed = names.filter((name) => failures.has(name));
  if (failed.length > 0) print(`\n${failed.length} of ${names.length} steps failed:\n`);
  for (const name of failed) print(`- ${name}: ${failures.get(name)}\n`);
  return failed.length === 0;
}

/** Adds the reason of a failure to `failures`. Returns the text to print. */
async function runStep({ name, check, fix, needs }, isFixing, failures) {
  const startedAt = performance.now();
  const { failure, output } = failures.has(needs)
    ? { failure: `not run, because ${needs} failed`, output: '' }
    : await run(isFixing ? (fix ?? check) : check);
  if (failure !== undefined) failures.set(name, failure);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return `== ${name}: ${failure ?? 'passed'} (${seconds} s)\n${output}`;
}

async function run(command) {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code, signal] = await once(child, 'close');
  if (code === 0) return { output };
  return { failure: signal === null ? `exit code ${code}` : `killed by ${signal}`, output };
}
