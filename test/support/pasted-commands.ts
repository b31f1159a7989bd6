import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command-line.js';

/** How pages write the operator's command line. */
export const CLI = 'npm run -s cli -- ';

/** Runs commands of a page in a folder of their own, with the variables that the page names. */
export class PastedCommands {
  constructor(
    private readonly folder: string,
    private readonly variables: Record<string, string>,
  ) {}

  /** Runs a line, and answers what it prints on standard output. @throws when it fails, with what it says */
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

  /** A command of ours runs within this process, which saves its start; the shell makes its words and reads its redirections. */
  private async command(line: string): Promise<string> {
    const [, words = '', direction, file = ''] = /^(.*?)(?: ([<>]) (\S+))?$/.exec(line) ?? [];
    const input = direction === '<' ? await readFile(join(this.folder, file), 'utf8') : '';
    const args = this.shell(`printf '%s\\0' ${words}`).split('\0').slice(0, -1);
    const here = args.map((word) =>
      existsSync(join(this.folder, word)) ? join(this.folder, word) : word,
    );
    const { code, stdout, stderr } = await run(here, this.variables, input);
    if (code !== 0) throw new Error(`"${line}" ended with ${code}:\n${stdout}${stderr}`);
    if (direction === '>') await writeFile(join(this.folder, file), stdout);
    return stdout;
  }
}
