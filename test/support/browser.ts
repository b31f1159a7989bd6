import { findProgram, versionLine } from './programs.js';
import type { Program } from './provided.js';

/**
 * The Chromium of `CHROMIUM_PATH`, else the first on the PATH that works.
 * @throws when the one that was asked for does not tell its version
 */
export async function findBrowser(): Promise<Program | null> {
  const wanted = process.env.CHROMIUM_PATH;
  if (wanted !== undefined && wanted !== '') return browserAt(wanted);
  const found = await findProgram('chromium', 'chromium-browser', 'google-chrome');
  return found === undefined ? null : browserAt(found).catch(() => null);
}

async function browserAt(path: string): Promise<Program> {
  const line = await versionLine(path);
  return { path, label: `Chromium ${/\d+(\.\d+)+/.exec(line)?.[0] ?? line}` };
}
