import type { INestApplicationContext } from '@nestjs/common';
import { type Command, CommanderError } from 'commander';
import { MigrationRefused } from '../platform/database/migrations/releases.js';
import { AppError, JobRefused } from '../platform/errors.js';
import { escapeInvisible } from '../platform/text.js';
import { VERSION } from '../platform/version.js';
import { addAppCommands } from './commands/app.js';
import { addAuditCommands } from './commands/audit.js';
import { CliCommand, PROGRAM, type Runner } from './command.js';
import { addCompletionCommand } from './commands/completion.js';
import { addDatabaseCommands } from './commands/db.js';
import { addDemoCommands } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { textUpTo } from './option-values.js';
import { addGrantCommands } from './commands/grant.js';
import { addOtpCommands } from './commands/otp.js';
import { addPostCommands } from './commands/post.js';
import { addCommentCommands } from './commands/comment.js';
import { addPruneCommand } from './commands/prune.js';
import { addQuotaCommands } from './commands/quota.js';
import { addRequestCommands } from './commands/request.js';
import { addSessionCommands } from './commands/session.js';
import {
  type CliContext,
  CommandFailed,
  ConfirmationRequired,
  Interrupted,
  Session,
} from './session.js';
import { addTokenCommands } from './commands/token.js';
import { addUsageCommands } from './commands/usage.js';
import { addUserCommands } from './commands/user.js';

/** Exit code of a failed command. */
export const FAILED = 1;
const USAGE_ERROR = 2;
/** Exit code after Ctrl-C. */
export const INTERRUPTED = 130;

/** The root command. The help lists the commands in the order in which they are added. */
export function commandLine(context: CliContext): CliCommand {
  const program = new CliCommand(commandRunner(context), PROGRAM)
    .description(
      'Manage the database, users, apps and quotas. Start with "doctor" if something is wrong. Results go to standard output, messages to standard error.\nExit codes: 0 success, 1 failure, 2 usage error.',
    )
    .option('--json', 'print one JSON value')
    .option(
      '--actor <name>',
      'your name for the audit log, which always has your user name, too',
      textUpTo(100),
    )
    .option('--yes', 'confirm in advance; required without a terminal')
    .version(VERSION, '--version', 'print the version')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: nameAndArguments,
      commandDescription: fullDescription,
    })
    .showHelpAfterError('Add --help to see examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(escapeInvisible(text)),
      writeErr: (text) => context.stderr.write(escapeInvisible(text)),
    })
    .examples(
      'db migrate',
      'user add --phone +14155550101 --name "Ana Lee"',
      'app list',
      'quota show svc_app_01h455vb4pex5vsknk084sn02q --json',
      'doctor',
    );
  addDatabaseCommands(program);
  addUserCommands(program);
  addSessionCommands(program);
  addOtpCommands(program);
  addGrantCommands(program);
  addTokenCommands(program);
  addAppCommands(program);
  addQuotaCommands(program);
  addUsageCommands(program);
  addPostCommands(program);
  addCommentCommands(program);
  addAuditCommands(program);
  addRequestCommands(program);
  addDoctorCommand(program);
  addPruneCommand(program);
  addDemoCommands(program);
  addCompletionCommand(program, context);
  return program;
}

/** The name of a command and its arguments. Omits "[options]", so that the help of a group lists each command in one line. */
function nameAndArguments(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...names].join(' ');
}

/** The description, the sentence about the confirmation, and the members of the JSON result. */
function fullDescription(command: Command): string {
  if (!(command instanceof CliCommand)) return command.description();
  const { confirmation, jsonMembers } = command;
  return [
    command.description(),
    confirmation === undefined ? '' : ` ${confirmation}`,
    jsonMembers === undefined ? '' : `\n\nJSON: ${jsonMembers}`,
  ].join('');
}

/**
 * Runs one command.
 * @param args the arguments after the name of the program
 * @returns the exit code: 0 success, 1 failure, 2 usage error, 130 Ctrl-C at a prompt
 */
export async function runCommandLine(
  args: readonly string[],
  context: CliContext,
): Promise<number> {
  try {
    await commandLine(context).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    context.stderr.write(`${escapeInvisible(await failureMessage(error))}\n`);
    if (error instanceof Interrupted) return INTERRUPTED;
    return error instanceof ConfirmationRequired ? USAGE_ERROR : FAILED;
  }
}

type Application = Pick<INestApplicationContext, 'get' | 'close'>;

function commandRunner(context: CliContext): Runner {
  return async (command, work) => {
    const application = await openApplication(context.env, command).catch((error: unknown) => {
      if (command.needs === 'nothing') return failedApplication(error);
      throw error;
    });
    try {
      const services = await import('./lazy-services.js');
      const needsCurrentSchema = command.needs === 'current schema';
      if (needsCurrentSchema && !(await application.get(services.Migrator).isCurrent()))
        throw new CommandFailed(
          'The database has pending migrations. Run "devplatform db migrate" first.',
        );
      const session = new Session(context, command.optsWithGlobals(), application, services);
      const result = await work(session).finally(() => session.clearProgress());
      if (!result) return;
      await session.show(result);
      if (result.failure !== undefined) throw new CommandFailed(result.failure);
    } finally {
      await application.close();
    }
  };
}

/** Starts the application without its HTTP server and jobs. Imports modules only now, because loading them takes most of a second. */
async function openApplication(
  env: NodeJS.ProcessEnv,
  { needs }: CliCommand,
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
  await (needs === 'new database'
    ? sqlite.createDatabaseFile(address)
    : sqlite.requireDatabaseFile(address));
  const application = await NestFactory.createApplicationContext(AppModule.with(config), {
    abortOnError: false,
    logger: false,
  });
  const scheduler = application.get(SchedulerRegistry);
  for (const job of scheduler.getCronJobs().values()) await job.stop();
  scheduler.deleteInterval('webhooks');
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
async function failureMessage(error: unknown): Promise<string> {
  const isExpected =
    error instanceof AppError ||
    error instanceof JobRefused ||
    error instanceof MigrationRefused ||
    error instanceof CommandFailed;
  if (isExpected) return error.message;
  const { startupErrorMessage } = await import('../platform/lifecycle/startup-error.js');
  return startupErrorMessage(error);
}
