import { readFile, writeFile } from 'node:fs/promises';
import { commandTree } from '../support/command-line.js';

const README = 'README.md';
const [START, END] = ['<!-- commands -->', '<!-- /commands -->'];

/** Every command with its summary, aligned. */
function listOfCommands(): string {
  const { leaves } = commandTree();
  const width = Math.max(...leaves.map(({ path }) => path.length));
  const lines = leaves.map(({ path, summary }) => `${path.padEnd(width)}  ${summary}`);
  return ['', '', '```text', ...lines, '```', '', ''].join('\n');
}

describe('List of commands in the README', () => {
  it('is current; "WRITE_PAGES=1 npx vitest run test/docs/readme-commands" updates it', async () => {
    const readme = await readFile(README, 'utf8');
    const [before = '', rest = ''] = readme.split(START);
    const [list, after = ''] = rest.split(END);
    if (process.env.WRITE_PAGES === '1')
      await writeFile(README, [before, START, listOfCommands(), END, after].join(''));
    else expect(list).toBe(listOfCommands());
  });
});
