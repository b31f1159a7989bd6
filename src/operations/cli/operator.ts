import { userInfo } from 'node:os';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { visible } from '../../command-line/visible.js';

/** The operator said no. */
export class Declined extends Error {
  constructor() {
    super('Nothing was changed.');
  }
}

/** The name of the operating system's user, or the number of one without a name, as containers have. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whether somebody sits in front of this process and can answer, wherever its results and messages go. */
export function isAttended(): boolean {
  return process.stdin.isTTY;
}

/** Asks on the terminal; anything but yes, the end of the input included, is a no. @throws Declined */
export async function askToConfirm(question: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: screen() });
  const answer = await answerOn(terminal, `${visible(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Declined();
}

/** Asks on the terminal, and does not show what is typed: the terminal's echo is off, and readline's goes nowhere. */
export async function askUnseen(question: string): Promise<string> {
  const shown = screen();
  shown.write(`${visible(question)} `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const answer = await answerOn(terminal, '');
  shown.write('\n');
  return answer;
}

/** Standard error, or what is typed at where that goes elsewhere, as with `2>&1 | tee`: a question that nobody sees is none. */
function screen(): WriteStream {
  return process.stderr.isTTY ? process.stderr : new WriteStream(process.stdin.fd);
}

/** What is typed in one line, or nothing at the end of the input. */
async function answerOn(terminal: Interface, question: string): Promise<string> {
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question).then(resolve, () => resolve(''));
  });
  terminal.close();
  return answer.trim();
}
