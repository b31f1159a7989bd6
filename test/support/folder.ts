import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The path of a temporary folder for a `describe`: created before it and deleted after it. */
export function useFolder(): string {
  const folder = join(tmpdir(), `platform-${randomBytes(6).toString('hex')}`);
  beforeAll(() => mkdir(folder));
  // A program that was just stopped may still write a file.
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
