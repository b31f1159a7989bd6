import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { AppConfig } from '../../config/app-config.js';
import { failed, ok, warning, type Check, type Finding } from './check.js';
import { nearestThatExists, obstacleToWriting } from './writable.js';

const MEGABYTE = 1024 ** 2;
/** SQLite's log beside the file may grow to this while a long read lasts. */
const ENOUGH_MB = 1024;
const LEAST_MB = 100;
const SCHEME = 'sqlite:';

/** The file of SQLite: may it be written, and is there room. A server looks after its own. */
export function storageChecks({ database: { url } }: AppConfig): Check[] {
  const file = url.slice(SCHEME.length);
  if (!url.startsWith(SCHEME) || file === ':memory:') return [];
  return [{ name: 'storage', run: async () => [await fileFinding(file), await roomFinding(file)] }];
}

async function fileFinding(file: string): Promise<Finding> {
  const folder = dirname(resolve(file));
  // SQLite makes files of its own beside it.
  const obstacle = (await obstacleToWriting(file)) ?? (await obstacleToWriting(`${folder}/new`));
  return obstacle === undefined
    ? ok(`${file} and its folder can be written.`)
    : failed(obstacle, `chown "$(id -u)" ${folder} ${resolve(file)}`);
}

async function roomFinding(file: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestThatExists(resolve(file)));
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  const sentence = `${free} MB are free on the disk of ${file}.`;
  const remedy = 'Make room on that disk, or move the file to another one.';
  if (free < LEAST_MB) return failed(sentence, remedy);
  return free < ENOUGH_MB ? warning(sentence, remedy) : ok(sentence);
}
