import { AppError } from '../../common/errors.js';
import { SchemaIsNewer } from '../../database/schema.errors.js';
import { CommandFailed, MigrationsPending } from './command-runner.js';
import { Declined } from './operator.js';

/** Why a command failed, in a sentence for operators; only what nobody foresaw comes with its stack. */
export async function failureSentence(error: unknown): Promise<string> {
  const isForeseen =
    error instanceof AppError ||
    error instanceof MigrationsPending ||
    error instanceof SchemaIsNewer ||
    error instanceof CommandFailed ||
    error instanceof Declined;
  if (isForeseen) return error.message;
  const { startProblem } = await import('../start-problem.js');
  return startProblem(error);
}
