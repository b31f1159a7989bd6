import type { INestApplicationContext } from '@nestjs/common';
import type { RunCommand, Session } from '../../command-line/command.js';
import { Terminal, type Streams } from './terminal.js';
import { askToConfirm, askUnseen, isAttended, systemUser } from './operator.js';

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
  const { Migrator } = await import('../../database/migrator.js');
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
