import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommanderError } from 'commander';
import { examples } from './command-line/command.js';
import { textUpTo } from './command-line/option-values.js';
import { visible } from './command-line/visible.js';
import { addDemoCommands } from './modules/demo/demo.commands.js';
import { addAppCommands, appName } from './modules/oauth/apps/apps.commands.js';
import { addUserRevokeAllCommand } from './modules/oauth/grants/user-revoke-all.commands.js';
import { addUserUnlockCommand } from './modules/oauth/sign-in/user-unlock.commands.js';
import { addPostCommands } from './modules/posts/posts.commands.js';
import { addTokenCommands } from './modules/oauth/token/token-revoke.commands.js';
import { addQuotaCommands } from './modules/quota/quota.commands.js';
import { addUsageCommands } from './operations/cli/usage.commands.js';
import { addUserCommands } from './modules/users/users.commands.js';
import { addAuditCommands } from './operations/cli/audit.commands.js';
import { commandRunner } from './operations/cli/command-runner.js';
import { addDatabaseCommands } from './operations/cli/database.commands.js';
import { addDoctorCommand } from './operations/cli/doctor.commands.js';
import { failureSentence } from './operations/cli/failure.js';
import { addPruneCommand } from './operations/cli/prune.commands.js';
import { addQuotaReportCommand } from './operations/cli/quota-report.commands.js';
import { addQuotaResetCommand } from './operations/cli/quota-reset.commands.js';
import { addUserDataCommands } from './operations/cli/user-data.commands.js';
import type { Streams } from './operations/cli/terminal.js';
import { VERSION } from './operations/version.js';

/** The exit code of a command that failed. */
export const FAILED = 1;
const WRONG_USE = 2;

/** Where a command runs: `process`, or what stands for it. */
export interface Surroundings extends Streams {
  readonly env: NodeJS.ProcessEnv;
}

/** Imported here and not above, so that help and mistakes in typing do not wait until the application's modules have run. */
async function openApplication(env: NodeJS.ProcessEnv): Promise<INestApplicationContext> {
  const [{ NestFactory }, { SchedulerRegistry }, { loadConfig }, { AppModule }] = await Promise.all(
    [
      import('@nestjs/core'),
      import('@nestjs/schedule'),
      import('./config/load-config.js'),
      import('./app.module.js'),
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
export function commandLine({ env, ...streams }: Surroundings): Command {
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
    const { loadConfig } = await import('./config/load-config.js');
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
  surroundings: Surroundings,
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
