import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Where distributions put servers, which an ordinary user's PATH does not name. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/local/mysql/bin'];

/** The full path of the first of these programs that is installed. */
export async function findProgram(...names: string[]): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SERVER_FOLDERS];
  for (const name of names) {
    for (const folder of folders.filter((entry) => entry !== '')) {
      const path = join(folder, name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

/** What the program prints on standard output for `--version`, on one line. */
export async function versionLine(path: string, ...options: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, [...options, '--version']);
  return stdout.trim();
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
