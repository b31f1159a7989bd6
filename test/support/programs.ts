import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** An installed program. */
export interface Program {
  readonly path: string;
  /** Name and version, such as `Chromium 140.0.7339.80`. */
  readonly label: string;
}

/** Folders of server programs, which are usually not on the PATH. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/local/mysql/bin'];

/** Returns the full path of the first of these programs that is installed. */
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

/** The output of `--version`. */
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

/**
 * Finds the Chromium of `CHROMIUM_PATH`, or else the first on the PATH.
 * @throws when the program of `CHROMIUM_PATH` does not run
 */
export async function findBrowser(): Promise<Program | null> {
  const configured = process.env.CHROMIUM_PATH;
  if (configured !== undefined && configured !== '') return browserAt(configured);
  const found = await findProgram('chromium', 'chromium-browser', 'google-chrome');
  return found === undefined ? null : browserAt(found).catch(() => null);
}

async function browserAt(path: string): Promise<Program> {
  const line = await versionLine(path);
  return { path, label: `Chromium ${/\d+(\.\d+)+/.exec(line)?.[0] ?? line}` };
}
