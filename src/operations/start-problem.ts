import { isDatabaseUnavailable } from '../common/database-faults.js';
import { ConfigError } from '../config/load-config.js';

/** Why the service or a command could not start, in a sentence for operators; anything unforeseen with its stack. */
export function startProblem(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const { code, message, stack, syscall, path, port } = error as NodeJS.ErrnoException & {
    port?: number;
  };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop what listens there, or set PORT (or METRICS_PORT, whichever it is) to another one.`;
  if (syscall === 'listen')
    return `The service cannot listen there: ${message}. Set HOST to an address of this machine, and PORT and METRICS_PORT to ports that its user may have.`;
  // Such as that too many files are open.
  if (path !== undefined) return stack ?? message;
  if (code === 'ER_BAD_DB_ERROR')
    return `The database of DATABASE_URL does not exist: create it first. (${message})`;
  if (code === 'ER_ACCESS_DENIED_ERROR')
    return `The database refused the user or password of DATABASE_URL. (${message})`;
  if (isDatabaseUnavailable(error) && saidByTheDatabase(error))
    return `The database is there, and could not do this now: ${message}. Try again; if it stays so, look at its disk, its locks and its long statements.`;
  if (isDatabaseUnavailable(error))
    return `The database of DATABASE_URL cannot be reached: ${message || code}`;
  return stack ?? String(error);
}

/** A server's own errors have positive numbers, where the system's are negative. */
function saidByTheDatabase(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return (errno !== undefined && errno > 0) || code?.startsWith('SQLITE_') === true;
}
