import type { INestApplicationContext } from '@nestjs/common';
import type { RunCommand, Session } from '../../command-line/command.js';
import { askToConfirm, isAttended, systemUser } from './operator.js';

interface Options {
  json?: boolean;
  actor?: string;
  reason?: string;
  yes?: boolean;
}

/** A stream that takes text. */
export interface Output {
  write(text: string): unknown;
}

/** The schema is older than this version of the service. */
export class MigrationsPending extends Error {
  constructor() {
    super('The database is not up to date. Run "npm run -s cli -- db migrate" first.');
  }
}

/** How every command runs. `open` starts the application without serving it. */
export function commandRunner(
  open: () => Promise<INestApplicationContext>,
  streams: Record<'stdout' | 'stderr', Output>,
): RunCommand {
  return async (command, work, { onAnySchema = false } = {}) => {
    const options: Options = command.optsWithGlobals();
    const application = await open();
    try {
      if (!onAnySchema) await requireCurrentSchema(application);
      const { json, text, remark } = await work(sessionOf(application, options));
      streams.stdout.write(`${options.json ? JSON.stringify(json) : text}\n`);
      if (remark !== undefined && !options.json) streams.stderr.write(`${remark}\n`);
    } finally {
      await application.close();
    }
  };
}

async function requireCurrentSchema(application: INestApplicationContext): Promise<void> {
  const { Migrator } = await import('../../database/migrator.js');
  if (!(await application.get(Migrator).isCurrent())) throw new MigrationsPending();
}

function sessionOf(application: INestApplicationContext, options: Options): Session {
  const { actor = systemUser(), reason, yes, json } = options;
  return {
    change: { actor, reason },
    get: (type) => application.get(type),
    confirm: async (question) => {
      if (yes !== true && json !== true && isAttended()) await askToConfirm(question);
    },
  };
}
