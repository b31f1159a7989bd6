import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Outcome, Service, Validators } from '../../../tools/generators/clients/client.js';

export const FOLDER = new URL('../../../tools/generators/', import.meta.url).pathname;
const PROGRAMS = join(FOLDER, 'node_modules/.bin');
/** Each program takes about 10 seconds on two cores. */
const TIMEOUT_MS = 120_000;

/** A generator of TypeScript code. `clients/<name>.ts` in its folder uses the code. */
export interface Generator {
  readonly name: string;
  readonly command: readonly [program: string, ...parameters: string[]];
  /** The validators that the code contains. */
  readonly validators: readonly string[];
  /** Whether there are validators for error responses, too. */
  readonly validatesErrors: boolean;
}

export const GENERATORS: readonly Generator[] = [
  {
    name: 'hey-api',
    command: ['openapi-ts', '--file', 'hey-api.config.mjs'],
    validators: ['zod', 'valibot'],
    validatesErrors: false,
  },
  {
    name: 'orval',
    command: ['orval', '--config', 'orval.config.mjs'],
    validators: ['zod'],
    validatesErrors: true,
  },
  {
    name: 'kubb',
    command: ['kubb', 'generate', '--config', 'kubb.config.mjs'],
    validators: ['zod'],
    validatesErrors: true,
  },
  {
    name: 'swagger-typescript-api',
    command: [
      'swagger-typescript-api',
      'generate',
      '--path=generated/openapi.json',
      '--output=generated/swagger-typescript-api',
      '--name=api.ts',
    ],
    validators: [],
    validatesErrors: false,
  },
];

/** Runs a program of tools/generators. @throws with its output when it fails */
export async function runProgram(program: string, ...parameters: string[]): Promise<string> {
  const options = { cwd: FOLDER, timeout: TIMEOUT_MS };
  const { stdout } = await promisify(execFile)(join(PROGRAMS, program), parameters, options).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`${program} failed.\n${error.stdout}\n${error.stderr}`, { cause: error });
    },
  );
  return stdout;
}

/** Writes a JSON file for the programs. Returns its path. */
export async function writeInput(name: string, content: unknown): Promise<string> {
  const path = join(FOLDER, 'generated', name);
  await mkdir(join(FOLDER, 'generated'), { recursive: true });
  await writeFile(path, JSON.stringify(content, null, 2));
  return path;
}

export async function readOutput<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(join(FOLDER, 'generated', name), 'utf8')) as T;
}

/** Generates all clients from the document and compiles them. Returns the compiler's errors. */
export async function generateAndCompile(document: unknown): Promise<string[]> {
  await writeInput('openapi.json', document);
  await Promise.all(GENERATORS.map(({ command }) => runProgram(...command)));
  await checkTypesOf('generated/swagger-typescript-api/api.ts');
  const problems = await runProgram('tsc', '-p', '.').then(
    () => '',
    ({ message }: Error) => message,
  );
  return problems.split('\n').filter((line) => line.includes('error TS'));
}

/** Generated files switch the compiler off for themselves. Removes that, so that the test checks their types, too. */
async function checkTypesOf(file: string): Promise<void> {
  const path = join(FOLDER, file);
  const code = await readFile(path, 'utf8');
  await writeFile(path, code.replace('// @ts-nocheck\n', ''));
}

/** The module that uses the generated client. */
export interface ClientModule {
  run: (service: Service) => Promise<Outcome>;
  validators: Record<string, Validators>;
}

export async function importClient({ name }: Generator): Promise<ClientModule> {
  return (await import(/* @vite-ignore */ join(FOLDER, 'clients', `${name}.ts`))) as ClientModule;
}
