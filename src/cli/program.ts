import { type Command, CommanderError } from 'commander';
import { escapeInvisible } from '../platform/text.js';
import { VERSION } from '../platform/version.js';
import { addAppCommands } from './commands/app.js';
import { addAuditCommands } from './commands/audit.js';
import { CliCommand } from './command.js';
import { commandRunner, failureMessage } from './command-runner.js';
import { addDatabaseCommands } from './commands/db.js';
import { addDemoCommands } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { textUpTo } from './option-values.js';
import { addPostCommands } from './commands/post.js';
import { addPruneCommand } from './commands/prune.js';
import { addQuotaCommands } from './commands/quota.js';
import { type CliContext, ConfirmationRequired } from './session.js';
import { addTokenCommands } from './commands/token.js';
import { addUsageCommands } from './commands/usage.js';
import { addUserCommands } from './commands/user.js';

/** Exit code of a failed command. */
export const FAILED = 1;
const USAGE_ERROR = 2;

/** The root command. The help lists the commands in the order in which they are added. */
export function commandLine(context: CliContext): CliCommand {
  const program = new CliCommand(commandRunner(context), 'npm run -s cli --')
    .description(
      'Manage the database, users, apps and quotas. Results go to standard output, messages to standard error.\nExit codes: 0 success, 1 failure, 2 usage error.',
    )
    .option('--json', 'print one JSON value')
    .option(
      '--actor <name>',
      'name to record in the audit log (default: your user name)',
      textUpTo(100),
    )
    .version(VERSION, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: nameAndArguments })
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
  addTokenCommands(program);
  addAppCommands(program);
  addQuotaCommands(program);
  addUsageCommands(program);
  addPostCommands(program);
  addAuditCommands(program);
  addDoctorCommand(program);
  addPruneCommand(program);
  addDemoCommands(program);
  return program;
}

/** The name of a command and its arguments. Omits "[options]", so that the help of a group lists each command in one line. */
function nameAndArguments(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...names].join(' ');
}

/**
 * Runs one command.
 * @param args the arguments after the name of the program
 * @returns the exit code: 0 success, 1 failure, 2 usage error
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
    return error instanceof ConfirmationRequired ? USAGE_ERROR : FAILED;
  }
}
