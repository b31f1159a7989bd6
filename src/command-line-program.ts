import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommanderError } from 'commander';
import { examples } from './command-line/command.js';
import { textUpTo } from './command-line/option-values.js';
import { addDemoCommands } from './modules/demo/demo.commands.js';
import { addAppCommands, appName } from './modules/oauth/apps/apps.commands.js';
import { addUserUnlockCommand } from './modules/oauth/sign-in/user-unlock.commands.js';
import { addQuotaCommands } from './modules/quota/quota.commands.js';
import { addUserCommands } from './modules/users/users.commands.js';
import { commandRunner, type Output } from './operations/cli/command-runner.js';
import { addDatabaseCommands } from './operations/cli/database.commands.js';
import { failureSentence } from './operations/cli/failure.js';
import { addPruneCommand } from './operations/cli/prune.commands.js';
import { addQuotaResetCommand } from './operations/cli/quota-reset.commands.js';

/** The exit code of a command that failed. */
export const FAILED = 1;
const WRONG_USE = 2;

/** Where a command runs: `process`, or what stands for it. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Imported here and not above, so that help and mistakes in typing do not wait for the application. */
async function openApplication(env: NodeJS.ProcessEnv): Promise<INestApplicationContext> {
  const [{ NestFactory }, { SchedulerRegistry }, { loadConfig }, { AppModule }] = await Promise.all(
    [
      import('@nestjs/core'),
      import('@nestjs/schedule'),
      import('./config/app-config.js'),
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

function commandLine({ env, stdout, stderr }: Surroundings): Command {
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
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help to see examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .addHelpText(
      'before',
      examples(
        'db migrate',
        'user add --phone +14155550101 --name "Ana Lee"',
        'app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.write"',
        'quota show svc_app_01h455vb4pex5vsknk084sn02q --json',
      ),
    );
  const run = commandRunner(() => openApplication(env), { stdout, stderr });
  addDatabaseCommands(program, run);
  addUserUnlockCommand(addUserCommands(program, run), run);
  addAppCommands(program, run);
  addQuotaResetCommand(addQuotaCommands(program, run, appName), run);
  addPruneCommand(program, run);
  addDemoCommands(program, run);
  return program;
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
    surroundings.stderr.write(`${await failureSentence(error)}\n`);
    return FAILED;
  }
}
