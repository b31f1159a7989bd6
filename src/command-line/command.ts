import type { Command } from 'commander';

/** What one run of a command works with: the application, and the operator in front of it. */
export interface Session {
  /** Who acts, and why: what the audit log writes down. */
  readonly change: { actor: string; reason?: string };
  /** The application's service of this class. */
  get<T>(type: abstract new (...parameters: never[]) => T): T;
  /**
   * Asks before something that cannot be taken back or that stops an app. Only an operator at a terminal is asked; `--yes`,
   * `--json` and a script count as a yes.
   * @throws when the operator says no
   */
  confirm(question: string): Promise<void>;
}

/** What a command answers: `json` with `--json`, else `text`, both on standard output. `remark` is for people, on standard error. */
export interface Answer {
  json: object;
  text: string;
  remark?: string;
}

/** Starts the application for one command, runs `work`, prints its answer and ends the application. */
export type RunCommand = (
  command: Command,
  work: (session: Session) => Promise<Answer>,
  settings?: { onAnySchema?: boolean },
) => Promise<void>;

/** The lines that a command's help starts with. */
export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  npm run -s cli -- ${line}\n`).join('')}`;
}

/** One line per row, its columns aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
