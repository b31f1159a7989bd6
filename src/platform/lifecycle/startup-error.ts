import { isDatabaseUnavailable } from '../database/errors.js';
import { ConfigError } from '../config/load-config.js';

class ListenError extends Error {}

/** Wraps errors of `listen`, to distinguish them from network errors of the database. */
export async function wrapListenErrors(listen: () => Promise<unknown>): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    throw new ListenError('The service cannot listen.', { cause });
  }
}

/** Why the service or a command failed to start; with a stack trace for unexpected errors. */
export function startupErrorMessage(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof ListenError) return listenProblem(error.cause as ListenFailure);
  const { code, message, stack, path } = error as NodeJS.ErrnoException;
  // A file system error, such as too many open files.
  if (path !== undefined) return stack ?? message;
  if (code === 'ER_BAD_DB_ERROR')
    return `The database of DATABASE_URL does not exist: create it first. (${message})`;
  if (code === 'ER_ACCESS_DENIED_ERROR')
    return `The database rejected the user or password of DATABASE_URL. (${message})`;
  if (isDatabaseUnavailable(error) && isServerError(error))
    return `The database is reachable but reports an error: ${message}. Try again; if it fails again, check its disk, locks and long-running statements.`;
  if (isDatabaseUnavailable(error))
    return `The database of DATABASE_URL cannot be reached: ${message || code}`;
  return stack ?? String(error);
}

type ListenFailure = NodeJS.ErrnoException & { port?: number };

function listenProblem({ code, message, port }: ListenFailure): string {
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use. Stop the process that listens on it, or set PORT or METRICS_PORT to another port.`
    : `The service cannot listen: ${message}. Set HOST to an address of this machine, and PORT and METRICS_PORT to ports that the user of this process may open.`;
}

/** Database servers use positive error numbers, the operating system negative ones. */
function isServerError(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return (errno !== undefined && errno > 0) || code?.startsWith('SQLITE_') === true;
}
