import { chmod, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { DatabaseAddress } from '../config/database-url.js';
import { permissionRemedy } from '../permission-model.js';

/** The file of `DATABASE_URL` is missing or cannot be used. */
export class DatabaseFileError extends Error {
  constructor(
    readonly problem: string,
    readonly remedy: string,
  ) {
    super(`${problem}: ${remedy}.`);
  }
}

/** Every permission of the group and of others. */
const SHARED = 0o077;

/** The file of a SQLite database. Undefined for a database on a server or in memory. */
export function databaseFile(address: DatabaseAddress): string | undefined {
  return address.engine === 'sqlite' && address.file !== ':memory:' ? address.file : undefined;
}

/** For commands that need a database: SQLite would create an empty file. @throws DatabaseFileError */
export async function requireDatabaseFile(address: DatabaseAddress): Promise<void> {
  const file = databaseFile(address);
  if (file === undefined || (await exists(file))) return;
  throw new DatabaseFileError(
    `There is no database at ${resolve(file)}`,
    'run "devplatform db migrate", or start the service',
  );
}

/**
 * Creates the file, and its folder if necessary, for this user only: SQLite would use the umask. SQLite gives its other files the
 * mode of this file. Removes the permissions of other users from existing files.
 * @throws DatabaseFileError
 */
export async function createDatabaseFile(address: DatabaseAddress): Promise<void> {
  const file = databaseFile(address);
  if (file === undefined) return;
  if (await exists(file)) {
    // Only the owner may change the mode. The command `doctor` warns of the others.
    for (const { path, mode } of await sharedFiles(file))
      await chmod(path, mode & ~SHARED).catch(() => undefined);
    return;
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const created = await open(file, 'a', 0o600);
    await created.close();
  } catch (error) {
    throw unusable(file, error);
  }
}

/** Those of SQLite's files that the group or others may access. */
export async function sharedFiles(file: string): Promise<{ path: string; mode: number }[]> {
  const files = await Promise.all(
    [file, `${file}-wal`, `${file}-shm`].map(async (path) => {
      const stats = await stat(path).catch(() => undefined);
      return { path, mode: (stats?.mode ?? 0) & 0o777 };
    }),
  );
  return files.filter(({ mode }) => (mode & SHARED) !== 0);
}

/** @throws DatabaseFileError if the path is not that of a file */
async function exists(file: string): Promise<boolean> {
  let stats;
  try {
    stats = await stat(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw unusable(file, error);
  }
  if (!stats.isFile())
    throw new DatabaseFileError(
      `${resolve(file)} is not a file`,
      'set DATABASE_URL to the path of a file, such as sqlite:./data/service.sqlite',
    );
  return true;
}

function unusable(file: string, error: unknown): DatabaseFileError {
  const permission = permissionRemedy(error);
  if (permission !== undefined)
    return new DatabaseFileError(
      `The permission model of Node.js denies access to the database ${resolve(file)}`,
      permission,
    );
  return new DatabaseFileError(
    `The database ${resolve(file)} cannot be opened (${(error as Error).message})`,
    'check DATABASE_URL and the permissions of the folder',
  );
}
