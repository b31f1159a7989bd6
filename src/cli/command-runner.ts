import type { INestApplicationContext } from '@nestjs/common';
import { SchemaIsNewer } from '../platform/database/migrations/releases.js';
import { AppError } from '../platform/errors.js';
import type { RunCommand, Session } from './command.js';
import {
  askToConfirm,
  askUnseen,
  CLEAR,
  Declined,
  isAttended,
  type Streams,
  systemUser,
  Terminal,
} from './terminal.js';

/** What a shell makes of SIGINT: 128 and its number. */
const INTERRUPTED = 130;

/**
 * Ends the process at Ctrl-C, in the middle of whatever it does: a transaction that has not committed is undone by the
 * database, and commands that write in batches go on from there when they are run again.
 */
export function endOnInterruption(): void {
  process.once('SIGINT', () => {
    const clear = process.stderr.isTTY ? CLEAR : '';
    const sentence =
      'Interrupted. What was done before stays; the step that was under way is undone.';
    process.stderr.write(`${clear}${sentence}\n`, () => process.exit(INTERRUPTED));
  });
}

/** Why a command failed, in a sentence for operators; only what nobody foresaw comes with its stack. */
export async function failureSentence(error: unknown): Promise<string> {
  const isForeseen =
    error instanceof AppError ||
    error instanceof MigrationsPending ||
    error instanceof SchemaIsNewer ||
    error instanceof CommandFailed ||
    error instanceof Declined;
  if (isForeseen) return error.message;
  const { startProblem } = await import('../platform/lifecycle/start-problem.js');
  return startProblem(error);
}

interface Options {
  json?: boolean;
  actor?: string;
  reason?: string;
  yes?: boolean;
}

type Application = Pick<INestApplicationContext, 'get' | 'close'>;

/** The command has done what it could, and answered; what is left is in the message. */
export class CommandFailed extends Error {}

/** The schema is older than this version of the service. */
export class MigrationsPending extends Error {
  constructor() {
    super('The database is not up to date. Run "npm run -s cli -- db migrate" first.');
  }
}

/** How every command runs. `open` starts the application without serving it. */
export function commandRunner(
  open: () => Promise<INestApplicationContext>,
  streams: Streams,
): RunCommand {
  return async (command, work, { onAnySchema = false, onAnyStart = false } = {}) => {
    const options: Options = command.optsWithGlobals();
    const application = await open().catch((error: unknown) => {
      if (onAnyStart) return new NotStarted(error);
      throw error;
    });
    try {
      if (!onAnySchema) await requireCurrentSchema(application);
      const terminal = new Terminal(streams, options);
      const answer = await work(sessionOf(application, options, terminal));
      terminal.clear();
      if (!answer) return;
      const { json, text, remark, failure } = answer;
      await terminal.print(`${options.json ? JSON.stringify(json) : text}\n`);
      if (remark !== undefined && !options.json) terminal.say(remark);
      if (failure !== undefined) throw new CommandFailed(failure);
    } finally {
      await application.close();
    }
  };
}

/** Stands for an application that did not start: whoever asks it for a service is told why. */
class NotStarted implements Application {
  constructor(private readonly reason: unknown) {}

  get(): never {
    throw this.reason;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function requireCurrentSchema(application: Application): Promise<void> {
  const { Migrator } = await import('../platform/database/migrations/migrator.js');
  if (!(await application.get(Migrator).isCurrent())) throw new MigrationsPending();
}

function sessionOf(application: Application, options: Options, terminal: Terminal): Session {
  const { actor = systemUser(), reason, yes, json } = options;
  return {
    change: { actor, reason },
    get: (type) => application.get(type),
    confirm: async (question) => {
      if (yes !== true && json !== true && isAttended()) await askToConfirm(question);
    },
    input: terminal.input,
    readSecret: (question) => (isAttended() ? askUnseen(question) : terminal.readLine()),
    progress: (text) => terminal.progress(text),
    say: (sentence) => terminal.say(sentence),
    print: (text) => terminal.print(text),
  };
}
