import { Command } from 'commander';
import { textUpTo } from './option-values.js';
import type { Session } from './session.js';

/** The result of a command: `json` with `--json`, else `text`, both on standard output. */
export interface Result {
  json: object;
  text: string;
  /** For people, on standard error. */
  note?: string;
  /** Why the command failed although it has a result: on standard error, with exit code 1. */
  failure?: string;
}

/** Starts the application, runs `work`, prints its result, if it has one, and closes the application. */
export type Runner = (
  command: CliCommand,
  work: (session: Session) => Promise<Result | void>,
) => Promise<void>;

/** A command or a group of commands. The application starts when a command runs, not for help and usage errors. */
export class CliCommand extends Command {
  /** Runs on a schema of any version. */
  anySchema = false;
  /** Runs although the application did not start: `Session.get` then throws the reason. */
  anyStart = false;

  constructor(
    private readonly runner: Runner,
    name?: string,
  ) {
    super(name);
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.runner, name);
  }

  /** Shows examples at the top of the help. */
  examples(...lines: string[]): this {
    return this.addHelpText('before', examples(...lines));
  }

  /** Takes `--reason`, for a command that changes something. */
  audited(): this {
    return this.option('--reason <text>', 'why, for the audit log', textUpTo(500));
  }

  /** Takes `--reason` and `--yes`, for a command that asks for confirmation. */
  confirmed(): this {
    return this.audited().option('--yes', 'do not ask');
  }

  onAnySchema(): this {
    this.anySchema = true;
    return this;
  }

  /** Runs `work` with a session, the arguments and the options of the command. */
  execute(work: (session: Session, ...parameters: never[]) => Promise<Result | void>): this {
    return this.action((...parameters) =>
      this.start((session) => work(session, ...(parameters as never[]))),
    );
  }

  /** The same for an action that checks its options first. */
  start(work: (session: Session) => Promise<Result | void>): Promise<void> {
    return this.runner(this, work);
  }
}

export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  npm run -s cli -- ${line}\n`).join('')}`;
}
