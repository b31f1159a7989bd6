import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';

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

/** Whether somebody sits in front of this process and can answer. */
export function isAttended(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on standard error; anything but yes, the end of the input included, is a no. @throws Declined */
export async function askToConfirm(question: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(`${question} [y/N] `).then(resolve, () => resolve(''));
  });
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Declined();
}
