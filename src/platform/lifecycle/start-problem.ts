import { isDatabaseUnavailable } from '../database/errors.js';
import { ConfigError } from '../config/load-config.js';

class ListenError extends Error {}

/** Marks a failure to listen, so that {@link startupErrorMessage} can tell it from other network errors. */
export async function wrapListenErrors(begin: () => Promise<unknown>): Promise<void> {
  try {
    await begin();
  } catch (cause) {
    throw new ListenError('The service cannot listen.', { cause });
  }
}

/** Why the service or a command could not start, in a sentence for operators; unexpected errors with their stack trace. */
export function startupErrorMessage(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof ListenError) return listenProblem(error.cause as ListenFailure);
  const { code, message, stack, path } = error as NodeJS.ErrnoException;
  // A file system error, such as too many open files.
  if (path !== undefined) return stack ?? message;
  if (code === 'ER_BAD_DB_ERROR')
    return `The database of DATABASE_URL does not exist: create it first. (${message})`;
  if (code === 'ER_ACCESS_DENIED_ERROR')
    return `The database refused the user or password of DATABASE_URL. (${message})`;
  if (isDatabaseUnavailable(error) && isDatabaseError(error))
    return `The database is there, and could not do this now: ${message}. Try again; if it stays so, look at its disk, its locks and its long statements.`;
  if (isDatabaseUnavailable(error))
    return `The database of DATABASE_URL cannot be reached: ${message || code}`;
  return stack ?? String(error);
}

type ListenFailure = NodeJS.ErrnoException & { port?: number };

function listenProblem({ code, message, port }: ListenFailure): string {
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use. Stop what listens there, or set PORT (or METRICS_PORT, whichever it is) to another one.`
    : `The service cannot listen there: ${message}. Set HOST to an address of this machine, and PORT and METRICS_PORT to ports that its user may have.`;
}

/** Error numbers of a database server are positive, those of the operating system negative. */
function isDatabaseError(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return (errno !== undefined && errno > 0) || code?.startsWith('SQLITE_') === true;
}
