import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const OPTIONS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
  '--loglevel=error',
];

/**
 * Installs the packages of a folder that has its own package.json, such as `bench`, unless the versions of its lock file are
 * installed.
 * @param {string} folder
 * @returns {Promise<void>}
 */
export async function installPackages(folder) {
  // npm writes this copy of the lock file at the end of an installation.
  const installed = await modifiedAt(join(folder, 'node_modules/.package-lock.json'));
  const wanted = await modifiedAt(join(folder, 'package-lock.json'));
  if (installed <= wanted) await promisify(execFile)('npm', ['ci', ...OPTIONS], { cwd: folder });
}

/** @param {string} file */
async function modifiedAt(file) {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return mtimeMs;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await Promise.all(process.argv.slice(2).map(installPackages));
