import type { Command } from 'commander';
import { codePoints } from '../platform/text.js';

/** What moves a cursor, changes colours or rings a bell on some terminal (ECMA-48). */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** A text that a terminal shows and does not obey: control characters are written as JSON writes them, so that JSON stays the same. */
export function visible(text: string): string {
  return text.replace(
    CONTROL,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `text` as lines of at most `width` characters, cut at spaces, and a longer word where it must be. Never empty. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, width))) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (codePoints(line) + 1 + codePoints(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function pieces(word: string, width: number): string[] {
  const characters = Array.from(word);
  const count = Math.max(1, Math.ceil(characters.length / width));
  return Array.from({ length: count }, (_, at) =>
    characters.slice(at * width, (at + 1) * width).join(''),
  );
}

/** What one run of a command works with: the application, and the operator in front of it. */
export interface Session {
  /** Who acts, and why: what the audit log writes down. */
  readonly change: { actor: string; reason?: string };
  /** The application's service of this class. @throws why the application has not started, for a command that runs all the same */
  get<T>(type: abstract new (...parameters: never[]) => T): T;
  /**
   * Asks before something that cannot be taken back or that stops an app. Only an operator at a terminal is asked; `--yes`,
   * `--json` and a script count as a yes.
   * @throws when the operator says no
   */
  confirm(question: string): Promise<void>;
  /** Standard input, for a command that reads all of it. */
  readonly input: AsyncIterable<string | Buffer>;
  /**
   * The first line of standard input, trimmed: for a secret, which is never an argument. Empty when there is none. At a terminal,
   * `question` is asked for it, and it is not shown.
   */
  readSecret(question: string): Promise<string>;
  /** Tells how far a long command is, in one line of the terminal that the next replaces. Scripts and `--json` are not told. */
  progress(text: string): void;
  /** Says something to people, on standard error, in a line of its own. `--json` does not keep it silent. */
  say(sentence: string): void;
  /** Writes a part of a result that is too large to be held at once, and waits for a reader that is slow. */
  print(text: string): Promise<void>;
}

/** What a command answers: `json` with `--json`, else `text`, both on standard output. `remark` is for people, on standard error. */
export interface Answer {
  json: object;
  text: string;
  remark?: string;
  /** Why the command has failed although it has an answer, and what to do: it ends with 1, and this on standard error. */
  failure?: string;
}

/** What a command can do without. */
export interface RunSettings {
  /** A schema of this version. */
  onAnySchema?: boolean;
  /** An application that starts. */
  onAnyStart?: boolean;
}

/** Starts the application for one command, runs `work`, prints its answer, if it did not print by itself, and ends the application. */
export type RunCommand = (
  command: Command,
  work: (session: Session) => Promise<Answer | void>,
  settings?: RunSettings,
) => Promise<void>;

/** The lines that a command's help starts with. */
export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  npm run -s cli -- ${line}\n`).join('')}`;
}
