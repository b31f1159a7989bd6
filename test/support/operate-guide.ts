import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { runCommand } from './command-line.js';
import type { TestDatabase } from './database.js';
import { findProgram } from './programs.js';
import { runSql } from './sql.js';

/** Replaces the database names in a line of the pages by those of the test. */
export type ReplaceNames = (line: string) => string;

/** A code block that a test runs. */
interface Block {
  section: string;
  /** `run`, or for example `run-sqlite` for one kind of database. */
  kind: string;
  lines: string[];
}

/** The pages for operators: `docs/operate.md` and those in `docs/operate/`. */
export const OPERATE_PAGES: readonly string[] = [
  'docs/operate.md',
  ...readdirSync('docs/operate').map((name) => `docs/operate/${name}`),
];

const blocks: readonly Block[] = OPERATE_PAGES.map((page) => readFileSync(page, 'utf8'))
  .join('\n')
  .split(/^##? /m)
  .flatMap((section) =>
    [...section.matchAll(/^ *```sh (run\S*)\n(.*?)^ *```$/gms)].map(
      ([, kind = '', block = '']) => ({
        section: section.split('\n', 1).join(''),
        kind,
        lines: block.trim().split(/\n */),
      }),
    ),
  );

/** The sections with blocks that a test runs on every database. */
export const SECTIONS: readonly string[] = [
  ...new Set(blocks.flatMap(({ section, kind }) => (kind === 'run' ? [section] : []))),
].toSorted();

/** The programs that the backup procedures need and that are not installed. */
const missing = {
  server: await missingOf('mysqldump', 'mysql'),
  sqlite: await missingOf('sqlite3'),
};

/** The section whose commands back up a database and restore the copy. */
export const BACKUP_AND_RESTORE = 'Back up and restore';

/** For commands whose names need no replacement, as those for SQLite. */
export const keepNames: ReplaceNames = (line) => line;

/** The commands of a section of the pages. @throws when it has no blocks of this kind */
export function commandsOf(section: string, kind: string): string[] {
  const own = blocks.filter((block) => block.section === section && block.kind === kind);
  if (own.length === 0) throw new Error(`The section "${section}" has no \`sh ${kind}\` blocks.`);
  return own.flatMap(({ lines }) => lines);
}

/**
 * Whether the programs of the backup procedure are installed.
 * @throws with `CI=true`, when one is missing
 */
export function canBackUp({ engine }: TestDatabase): boolean {
  const missingPrograms = missing[engine.kind === 'sqlite' ? 'sqlite' : 'server'];
  if (missingPrograms.length > 0 && process.env.CI === 'true')
    throw new Error(`CI needs ${missingPrograms.join(' and ')} for the backup tests: install it.`);
  return missingPrograms.length === 0;
}

/**
 * Backs up a database and restores the copy with the commands of the guide. Returns the `DATABASE_URL` of the restored database.
 * @param folder the working directory of the commands
 * @param runBlocks runs the commands of all blocks of a kind
 */
export async function runBackupAndRestore(
  { url, engine }: TestDatabase,
  folder: string,
  runBlocks: (kind: string, replaceNames: ReplaceNames) => Promise<unknown>,
): Promise<string> {
  if (engine.kind === 'sqlite') {
    // The commands name the database `data/service.sqlite`.
    await symlink(dirname(url.slice('sqlite:'.length)), join(folder, 'data'));
    await runBlocks('run-sqlite', keepNames);
    return `sqlite:${join(folder, 'platform.sqlite')}`;
  }
  const { hostname, port, username, password, pathname } = new URL(url);
  const [original, restored] = [pathname.slice(1), `${pathname.slice(1)}_restored`];
  await writeFile(
    join(folder, 'backup.cnf'),
    `[client]\nhost=${hostname}\nport=${port}\nuser=${username}\npassword="${decodeURIComponent(password)}"\n`,
    { mode: 0o600 },
  );
  await runSql(url, `CREATE DATABASE ${restored} CHARACTER SET latin1`);
  await runBlocks('run-server', (line) =>
    line.replace(/ platform(?= )/, ` ${original}`).replace(/ restored(?= )/, ` ${restored}`),
  );
  return url.replace(original, restored);
}

async function missingOf(...names: string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => findProgram(name)));
  return names.filter((_name, index) => found[index] === undefined);
}

/** Makes the built program available in a folder, as on a machine of an operator. Returns the folder of `devplatform`. */
export async function installProgram(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  const program = `#!/bin/sh\nexec node ${resolve('dist/src/bundle/cli.js')} "$@"\n`;
  await writeFile(join(bin, 'devplatform'), program, { mode: 0o755 });
  for (const name of ['dist', 'node_modules'])
    if (!existsSync(join(folder, name))) await symlink(resolve(name), join(folder, name));
  return bin;
}

/** How the documentation calls the command line. */
export const CLI = 'devplatform ';

/** Runs the commands of a page in a folder, with environment variables. */
export class PastedCommands {
  constructor(
    private readonly folder: string,
    private readonly variables: Record<string, string>,
  ) {}

  /** Runs a line and returns its standard output. @throws with its output when it fails */
  async run(line: string): Promise<string> {
    return line.startsWith(CLI) ? this.command(line.slice(CLI.length)) : this.shell(line);
  }

  shell(line: string): string {
    const { PATH = '' } = process.env;
    const env = { PATH, ...this.variables };
    return execFileSync('bash', ['-c', `set -euo pipefail\n${line}`], {
      cwd: this.folder,
      env,
      encoding: 'utf8',
    });
  }

  /**
   * Runs a command of the service in this process, which is faster. The shell splits the line into words. Names
   * of files in the folder become absolute paths.
   */
  private async command(line: string): Promise<string> {
    const [, words = '', direction, file = ''] = /^(.*?)(?: ([<>]) (\S+))?$/.exec(line) ?? [];
    const input = direction === '<' ? await readFile(join(this.folder, file), 'utf8') : '';
    const args = this.shell(`printf '%s\\0' ${words}`).split('\0').slice(0, -1);
    const resolvedArgs = args.map((word) =>
      existsSync(join(this.folder, word)) ? join(this.folder, word) : word,
    );
    const { code, stdout, stderr } = await runCommand(resolvedArgs, this.variables, input);
    if (code !== 0) throw new Error(`"${line}" exited with ${code}:\n${stdout}${stderr}`);
    if (direction === '>') await writeFile(join(this.folder, file), stdout);
    return stdout;
  }
}
