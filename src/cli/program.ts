import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommanderError } from 'commander';
import { examples, visible } from './command.js';
import { textUpTo } from './option-values.js';
import { addDemoCommands } from './demo.js';
import { addAppCommands, appName } from './app.js';
import { addUserCommands, addUserRevokeAllCommand, addUserUnlockCommand } from './user.js';
import { addPostCommands } from './post.js';
import { addTokenCommands } from './token.js';
import { addQuotaCommands, addQuotaResetCommand } from './quota.js';
import { addUsageCommands } from './usage.js';
import { addAuditCommands } from './audit.js';
import { commandRunner, failureSentence } from './command-runner.js';
import { addDatabaseCommands } from './db.js';
import { addDoctorCommand } from './doctor.js';
import { addPruneCommand } from './prune.js';
import { addQuotaReportCommand } from './quota-report.js';
import { addUserDataCommands } from './user-data.js';
import type { Streams } from './terminal.js';
import { VERSION } from '../platform/version.js';

/** The exit code of a command that failed. */
export const FAILED = 1;
const WRONG_USE = 2;

/** Where a command runs: `process`, or what stands for it. */
export interface CliContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
}

/** Imported here and not above, so that help and mistakes in typing do not wait until the application's modules have run. */
async function openApplication(env: NodeJS.ProcessEnv): Promise<INestApplicationContext> {
  const [{ NestFactory }, { SchedulerRegistry }, { loadConfig }, { AppModule }] = await Promise.all(
    [
      import('@nestjs/core'),
      import('@nestjs/schedule'),
      import('../platform/config/load-config.js'),
      import('../app.module.js'),
    ],
  );
  const application = await NestFactory.createApplicationContext(AppModule.with(loadConfig(env)), {
    abortOnError: false,
    logger: false,
  });
  for (const job of application.get(SchedulerRegistry).getCronJobs().values()) await job.stop();
  return application;
}

/** All commands. None of them begins the application before it runs. */
export function commandLine({ env, ...streams }: CliContext): Command {
  const program = new Command('npm run -s cli --')
    .description(
      "The operator's command line. Results go to standard output, everything else to standard error.\nExit codes: 0 done, 1 failed, 2 used wrongly.",
    )
    .option('--json', 'print one JSON object or array, and never ask')
    .option(
      '--actor <name>',
      'who acts, for the audit log; your user name by default',
      textUpTo(100),
    )
    .version(VERSION, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: nameAndArguments })
    .showHelpAfterError('Add --help to see examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.stdout.write(visible(text)),
      writeErr: (text) => streams.stderr.write(visible(text)),
    })
    .addHelpText(
      'before',
      examples(
        'db migrate',
        'user add --phone +14155550101 --name "Ana Lee"',
        'app list',
        'quota show svc_app_01h455vb4pex5vsknk084sn02q --json',
        'doctor',
      ),
    );
  const run = commandRunner(() => openApplication(env), streams);
  addDatabaseCommands(program, run);
  const user = addUserCommands(program, run);
  addUserUnlockCommand(user, run);
  addUserRevokeAllCommand(user, run);
  addUserDataCommands(user, run);
  addTokenCommands(program, run);
  addAppCommands(program, run);
  const quota = addQuotaCommands(program, run, appName);
  addQuotaReportCommand(quota, run);
  addQuotaResetCommand(quota, run);
  addUsageCommands(program, run);
  addPostCommands(program, run);
  addAuditCommands(program, run);
  addDoctorCommand(program, run, async () => {
    const { loadConfig } = await import('../platform/config/load-config.js');
    return loadConfig(env);
  });
  addPruneCommand(program, run);
  addDemoCommands(program, run);
  return program;
}

/** Without "[options]", which nearly all have, so that the list of a group is a line for each. */
function nameAndArguments(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...names].join(' ');
}

/**
 * Runs one command.
 * @param words what follows the name of the program
 * @returns the exit code: 0 done, 1 failed, 2 used wrongly
 */
export async function runCommandLine(
  words: readonly string[],
  surroundings: CliContext,
): Promise<number> {
  try {
    await commandLine(surroundings).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USE;
    surroundings.stderr.write(`${visible(await failureSentence(error))}\n`);
    return FAILED;
  }
}
