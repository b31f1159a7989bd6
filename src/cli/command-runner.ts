import type { INestApplicationContext } from '@nestjs/common';
import { MigrationRefused } from '../platform/database/migrations/releases.js';
import { AppError, JobRefused } from '../platform/errors.js';
import type { CliCommand, Runner } from './command.js';
import { type CliContext, CommandFailed, Session } from './session.js';

type Application = Pick<INestApplicationContext, 'get' | 'close'>;

export function commandRunner(context: CliContext): Runner {
  return async (command, work) => {
    const application = await openApplication(context.env, command).catch((error: unknown) => {
      if (command.allowsFailedStart) return failedApplication(error);
      throw error;
    });
    try {
      const services = await import('./lazy-services.js');
      if (!command.allowsAnySchema && !(await application.get(services.Migrator).isCurrent()))
        throw new CommandFailed(
          'The database has pending migrations. Run "devplatform db migrate" first.',
        );
      const session = new Session(context, command.optsWithGlobals(), application, services);
      const result = await work(session).finally(() => session.clearProgress());
      if (!result) return;
      const { json, text, note, failure } = result;
      await session.print(`${session.printsJson ? JSON.stringify(json) : text}\n`);
      if (note !== undefined && !session.printsJson) session.printNote(note);
      if (failure !== undefined) throw new CommandFailed(failure);
    } finally {
      await application.close();
    }
  };
}

/** Starts the application without its HTTP server and jobs. Imports modules only now, because loading them takes most of a second. */
async function openApplication(
  env: NodeJS.ProcessEnv,
  { createsDatabase }: CliCommand,
): Promise<Application> {
  const [{ NestFactory }, { SchedulerRegistry }, { loadConfig }, sqlite, { AppModule }] =
    await Promise.all([
      import('@nestjs/core'),
      import('@nestjs/schedule'),
      import('../platform/config/load-config.js'),
      import('../platform/database/sqlite-file.js'),
      import('../app.module.js'),
    ]);
  const config = loadConfig(env);
  const { address } = config.database;
  await (createsDatabase
    ? sqlite.createDatabaseFile(address)
    : sqlite.requireDatabaseFile(address));
  const application = await NestFactory.createApplicationContext(AppModule.with(config), {
    abortOnError: false,
    logger: false,
  });
  for (const job of application.get(SchedulerRegistry).getCronJobs().values()) await job.stop();
  return application;
}

/** Replaces an application that failed to start: `get` throws the start error. */
function failedApplication(startError: unknown): Application {
  return {
    get: () => {
      throw startError;
    },
    close: () => Promise.resolve(),
  };
}

/** The error message for the operator. Only that of an unexpected error has a stack trace. */
export async function failureMessage(error: unknown): Promise<string> {
  const isExpected =
    error instanceof AppError ||
    error instanceof JobRefused ||
    error instanceof MigrationRefused ||
    error instanceof CommandFailed;
  if (isExpected) return error.message;
  const { startupErrorMessage } = await import('../platform/lifecycle/startup-error.js');
  return startupErrorMessage(error);
}
