import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

/** A program of the guide: a code block that is marked with `flow`. */
export interface Sample {
  /** As in the code block, such as `python`. */
  language: string;
  code: string;
}

/** How to run a program: the file name, the command, and a command that fails where the language is not installed. */
const RUNNERS: Record<string, { file: string; command: string[]; probe: string[] }> = {
  sh: { file: 'sample.sh', command: ['bash', '-euo', 'pipefail'], probe: ['bash', '--version'] },
  ts: { file: 'sample.mjs', command: [process.execPath], probe: [process.execPath, '--version'] },
  python: { file: 'sample.py', command: ['python3'], probe: ['python3', '--version'] },
  php: { file: 'sample.php', command: ['php'], probe: ['php', '--ri', 'curl'] },
  go: { file: 'sample.go', command: ['go', 'run'], probe: ['go', 'version'] },
  ruby: { file: 'sample.rb', command: ['ruby'], probe: ['ruby', '--version'] },
};

export const SAMPLE_LANGUAGES = Object.keys(RUNNERS);

/** The programs of a page in their order. */
export async function samplesOf(page: string): Promise<Sample[]> {
  const text = await readFile(`docs/guide/${page}.md`, 'utf8');
  return [...text.matchAll(/^```(\w+) flow\n(.*?)^```$/gms)].map(
    ([, language = '', code = '']) => ({ language, code }),
  );
}

export async function isInstalled(language: string): Promise<boolean> {
  const [program = '', ...options] = RUNNERS[language]?.probe ?? [];
  return promisify(execFile)(program, options).then(
    () => true,
    () => false,
  );
}

/**
 * Runs a program in a folder of its own and returns what it prints.
 * @param answer returns the line to type, from what the program has printed; undefined if it prompts for nothing yet
 * @throws when the program fails
 */
export async function runSample(
  { language, code }: Sample,
  env: Record<string, string>,
  answer?: (printed: string) => Promise<string> | undefined,
): Promise<string> {
  const runner = RUNNERS[language];
  if (!runner) throw new Error(`Nothing runs ${language}.`);
  const folder = await mkdtemp(join(tmpdir(), 'guide-sample-'));
  try {
    await writeFile(join(folder, runner.file), language === 'ts' ? javaScript(code) : code);
    const [program = '', ...options] = runner.command;
    const { PATH, HOME } = process.env;
    const child = spawn(program, [...options, runner.file], {
      cwd: folder,
      env: { PATH, HOME, ...env },
    });
    let printed = '';
    let errors = '';
    let isAnswered = false;
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const line = isAnswered ? undefined : answer?.(printed);
      if (line === undefined) return;
      isAnswered = true;
      void line.then((text) => child.stdin.write(`${text}\n`));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    const status = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (status !== 0) throw new Error(`${language} ended with ${status}:\n${printed}\n${errors}`);
    return printed;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function javaScript(code: string): string {
  const { ESNext } = ts.ModuleKind;
  return ts.transpileModule(code, {
    compilerOptions: { module: ESNext, target: ts.ScriptTarget.ES2023 },
  }).outputText;
}
