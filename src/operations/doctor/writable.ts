import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Why this process could not write the file, or make it with the folders that it lacks; undefined when it could. */
export async function obstacleToWriting(file: string): Promise<string | undefined> {
  const path = resolve(file);
  const nearest = await nearestThatExists(path);
  if (nearest !== path && !(await stat(nearest)).isDirectory()) return `${nearest} is no folder.`;
  try {
    await access(nearest, constants.W_OK);
    return undefined;
  } catch (error) {
    return `${nearest} cannot be written: ${(error as NodeJS.ErrnoException).code}.`;
  }
}

/** The file itself, or the folder in which what it lacks would be made. */
export async function nearestThatExists(path: string): Promise<string> {
  try {
    await access(path);
    return path;
  } catch {
    const folder = dirname(path);
    return folder === path ? path : nearestThatExists(folder);
  }
}
