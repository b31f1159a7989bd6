import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../support/programs.js';

const FOLDER = import.meta.dirname;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Builds the programs of a folder with pinned packages, which it downloads into a temporary folder. */
export interface Toolchain {
  readonly needs: readonly string[];
  /** The commands that build the programs, run in the copy of the folder. */
  readonly build: readonly (readonly string[])[];
  /** Keeps downloads in this folder. */
  readonly env?: (folder: string) => Record<string, string>;
}

export const TOOLCHAINS = {
  go: {
    needs: ['go'],
    build: [['go', 'build', '-o', 'client', '.']],
    env: (folder) => ({ GOPATH: join(folder, 'gopath'), GOFLAGS: '-modcacherw' }),
  },
  python: {
    needs: ['python3'],
    build: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--no-cache-dir', '-r', 'requirements.txt'],
    ],
  },
  java: {
    needs: ['mvn', 'javac', 'java'],
    build: [['mvn', '--quiet', '--batch-mode', '-Dmaven.repo.local=repository', 'compile']],
  },
} as const satisfies Record<string, Toolchain>;

export type ToolchainName = keyof typeof TOOLCHAINS;

/** Copies the programs of a language to `folder` and builds them. Returns what to install if a program is missing. */
export async function buildClients(
  name: ToolchainName,
  folder: string,
): Promise<string | undefined> {
  const { needs, build, env }: Toolchain = TOOLCHAINS[name];
  for (const program of needs)
    if ((await findProgram(program)) === undefined) return `Needs ${needs.join(', ')}.`;
  await cp(join(FOLDER, name), folder, { recursive: true });
  const options = {
    cwd: folder,
    env: { ...process.env, ...env?.(folder) },
    maxBuffer: MAX_OUTPUT_BYTES,
  };
  for (const [program = '', ...parameters] of build)
    await promisify(execFile)(program, parameters, options).catch(
      (error: Error & { stdout: string; stderr: string }) => {
        throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
      },
    );
  return undefined;
}
