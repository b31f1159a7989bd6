import { spawn } from 'node:child_process';
import { useCommands } from '../support/commands.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CANCELLED = 'Cancelled. Nothing was changed.';

onOneEngine('The confirmation of a command at a terminal', (database) => {
  const { app, cli } = useCommands(database);

  it.each([
    ['n', 'n\r', 1, CANCELLED],
    ['Enter', '\r', 1, CANCELLED],
    ['Ctrl-D', CTRL_D, 1, CANCELLED],
    ['Ctrl-C', CTRL_C, 130, 'Interrupted. Nothing was changed.'],
  ])('changes nothing after %s', async (_key, keys, code, message) => {
    const { id, name } = await app().addUser();
    const result = await atTerminal(database, ['user', 'block', id], keys);
    expect(result.code).toBe(code);
    expect(result.output).toContain(`Block "${name}" from sign-in and from all apps? [y/N] `);
    // The message begins on its own line, although these keys print none.
    expect(result.output.split('\r\n')).toContain(message);
    expect(await cli.json('user', 'show', id)).toMatchObject({ status: 'active' });
  });

  it.each(['y', 'Yes'])('continues after %s', async (answer) => {
    const { id } = await app().addUser();
    const { code } = await atTerminal(database, ['user', 'block', id], `${answer}\r`);
    expect(code).toBe(0);
    expect(await cli.json('user', 'show', id)).toMatchObject({ status: 'blocked' });
  });
});

/** Runs a command at a pseudo-terminal, and sends the keys when it asks. */
function atTerminal(
  { url }: TestDatabase,
  words: readonly string[],
  keys: string,
): Promise<{ code: number | null; output: string }> {
  const command = [process.execPath, 'dist/src/bundle/cli.js', ...words].join(' ');
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env.PATH, NODE_ENV: 'test', DATABASE_URL: url, TERM: 'xterm' },
      timeout: 20_000,
    });
    let output = '';
    let isAnswered = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (isAnswered || !output.includes('[y/N] ')) return;
      isAnswered = true;
      child.stdin.write(keys);
    });
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}
