import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../support/command-line.js';
import { useFolder } from '../support/folder.js';
import { findProgram } from '../support/programs.js';

const run = promisify(execFile);
/** Loads the script, sets the words before the cursor, and prints the completions. */
const BASH = `
  eval "$SCRIPT"
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _devplatform
  printf '%s\\n' "\${COMPREPLY[@]}"`;

/**
 * Types a line and the Tab key in an interactive zsh at a terminal, and prints the words of the command that it then runs. Ends after
 * ten seconds if no command runs.
 */
const ZSH = `
  zmodload zsh/zpty
  zpty shell zsh -f -i
  zpty -w shell "PS1=; unsetopt zle_bracketed_paste; stty -echo; source $1; devplatform() { print -r -- WORDS=\\\${(j: :)@} END }; echo REA''DY"
  zpty -r -m shell output '*READY*'
  zpty -w shell "$2"$'\\t'
  zpty -r -m shell output '*WORDS=* END*'
  print -r -- "$output"`;

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await runCommand(['completion', shell], { DATABASE_URL: 'none' });
  expect(code).toBe(0);
  return stdout;
}

/** The words of a command line, the last one unfinished, and what completes it. */
const COMPLETIONS: readonly [words: string[], completion: string][] = [
  [['devplatform', 'quo'], 'quota'],
  [['devplatform', 'app', 'sec'], 'secret'],
  [['devplatform', 'app', 'secret', 'ro'], 'rotate'],
  [['devplatform', '--json', 'app', 'list', '--st'], '--status'],
  [['devplatform', 'app', 'list', '--status', 'd'], 'disabled'],
  [['devplatform', 'completion', 'z'], 'zsh'],
  [['devplatform', 'app', 'list', '--act'], '--actor'],
];
const hasZsh = (await findProgram('zsh')) !== undefined;

describe('Command "completion"', () => {
  const folder = useFolder();

  it.each(COMPLETIONS)('completes %j in bash', async (words, completion) => {
    const SCRIPT = await scriptFor('bash');
    const { stdout } = await run('bash', ['-c', BASH, 'bash', ...words], { env: { SCRIPT } });
    expect(stdout.trim().split('\n')).toEqual([completion]);
  });

  it.for(COMPLETIONS)('completes %j in zsh', async ([words, completion], { skip }) => {
    skip(!hasZsh, 'zsh is not installed.');
    const file = join(folder, 'completion.zsh');
    await writeFile(file, await scriptFor('zsh'));
    const { stdout } = await run('zsh', ['-f', '-c', ZSH, 'zsh', file, words.join(' ')], {
      cwd: folder,
      timeout: 10_000,
    });
    const [, typed] = /WORDS=(.*) END/.exec(stdout) ?? [];
    expect(typed).toBe([...words.slice(1, -1), completion].join(' '));
  });

  it('completes the names of files in zsh', async ({ skip }) => {
    skip(!hasZsh, 'zsh is not installed.');
    const file = join(folder, 'completion.zsh');
    await writeFile(file, await scriptFor('zsh'));
    await writeFile(join(folder, 'members.csv'), '');
    const { stdout } = await run(
      'zsh',
      ['-f', '-c', ZSH, 'zsh', file, 'devplatform user import mem'],
      {
        cwd: folder,
        timeout: 10_000,
      },
    );
    expect(stdout).toContain('WORDS=user import members.csv END');
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
