import { Command } from 'commander';
import { textUpTo } from './option-values.js';
import type { Session } from './session.js';

/** The name of the program: `bin` of package.json. */
export const PROGRAM = 'devplatform';

/** The result of a command. Standard output gets `json` with `--json`, else `text`. */
export interface Result {
  json: object;
  text: string;
  /** Printed on standard error, except with `--json`. */
  note?: string;
  /** Printed on standard error after the result; the exit code is 1. */
  failure?: string;
}

/** Starts the application, runs `work`, prints its result and closes the application. */
export type Runner = (
  command: CliCommand,
  work: (session: Session) => Promise<Result | void>,
) => Promise<void>;

/** A command or a group of commands. Help and usage errors do not start the application. */
export class CliCommand extends Command {
  /** The members of the JSON result; undefined for a group. */
  jsonMembers?: string;
  /** The sentence of the help about the confirmation; undefined for a command that never asks. */
  confirmation?: string;
  /** Whether the command runs on a schema of any version. */
  allowsAnySchema = false;
  /** Whether the command creates the file of a SQLite database. Other commands need an existing file. */
  createsDatabase = false;
  /** Whether the command runs if the application fails to start. `Session.get` then throws the start error. */
  allowsFailedStart = false;

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

  /**
   * Declares the JSON result, which the help shows. The tests compare it with every result.
   * @param members such as `{id, apps: [{name}], reason?}`: `?` marks a member that is not always present, and `…` members that vary.
   * Lists of texts or numbers have no brackets.
   */
  printsJson(members: string): this {
    this.jsonMembers = members;
    return this;
  }

  /** Adds `--reason`, for a command that writes to the audit log. */
  acceptsReason(): this {
    return this.option('--reason <text>', 'reason to record in the audit log', textUpTo(500));
  }

  /**
   * Adds `--dry-run`, for a command that may change many rows. The command decides by `Session.isDryRun`.
   * @param effect such as `print the number of grants, but revoke nothing`
   */
  acceptsDryRun(effect: string): this {
    return this.option('--dry-run', effect);
  }

  /**
   * Adds `--reason`, and a sentence about the confirmation to the help.
   * @param cases the subject of the sentence, if the command does not always ask: such as `Removing a scope`
   */
  requiresConfirmation(cases?: string): this {
    const asks = cases === undefined ? 'Asks' : `${cases} asks`;
    this.confirmation = `${asks} for confirmation at a terminal, and requires --yes elsewhere.`;
    return this.acceptsReason();
  }

  allowAnySchema(): this {
    this.allowsAnySchema = true;
    return this;
  }

  createDatabase(): this {
    this.createsDatabase = true;
    return this;
  }

  /** Makes `work` the action of the command. It receives a session, the arguments and the options of the command. */
  execute(work: (session: Session, ...parameters: never[]) => Promise<Result | void>): this {
    return this.action((...parameters) =>
      this.start((session) => work(session, ...(parameters as never[]))),
    );
  }

  /** Runs `work` now. For actions that first validate their options, which needs no application. */
  start(work: (session: Session) => Promise<Result | void>): Promise<void> {
    return this.runner(this, work);
  }
}

export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  ${PROGRAM} ${line}\n`).join('')}`;
}
