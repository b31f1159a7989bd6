import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runCommand } from '../support/command-line.js';
import { findProgram } from '../support/programs.js';

const run = promisify(execFile);
/** Loads the script, sets the words before the cursor, and prints the completions. */
const BASH = `
  eval "$SCRIPT"
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _devplatform
  printf '%s\\n' "\${COMPREPLY[@]}"`;

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await runCommand(['completion', shell], { DATABASE_URL: 'none' });
  expect(code).toBe(0);
  return stdout;
}

describe('Command "completion"', () => {
  it.each([
    [['devplatform', 'quo'], ['quota']],
    [['devplatform', 'app', 'sec'], ['secret']],
    [['devplatform', 'app', 'secret', 'ro'], ['rotate']],
    [['devplatform', '--json', 'app', 'list', '--st'], ['--status']],
    [['devplatform', 'app', 'list', '--status', 'd'], ['disabled']],
    [['devplatform', 'completion', 'z'], ['zsh']],
    [['devplatform', 'app', 'list', '--act'], ['--actor']],
  ])('completes %j in bash', async (words, completions) => {
    const SCRIPT = await scriptFor('bash');
    const { stdout } = await run('bash', ['-c', BASH, 'bash', ...words], { env: { SCRIPT } });
    expect(stdout.trim().split('\n')).toEqual(completions);
  });

  it.for(['bash', 'zsh'])('is valid in %s', async (shell, { skip }) => {
    skip((await findProgram(shell)) === undefined, `${shell} is not installed.`);
    const SCRIPT = await scriptFor(shell);
    const flags = shell === 'zsh' ? ['-f'] : ['--norc'];
    const command = 'eval "$SCRIPT"; complete -p 2>/dev/null || echo "$_comps[devplatform]"';
    const { stdout, stderr } = await run(shell, [...flags, '-c', command], {
      env: { ...process.env, SCRIPT },
    });
    expect(stderr).toBe('');
    expect(stdout).toContain('_devplatform');
  });

  it('rejects another shell', async () => {
    const { code, stderr } = await runCommand(['completion', 'fish']);
    expect(code).toBe(2);
    expect(stderr).toContain('Allowed choices are bash, zsh.');
  });
});
