import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { commandLine } from '../../src/command-line-program.js';

export interface TreeEntry {
  /** The words that call it, such as `app secret list`. */
  readonly path: string;
  readonly command: Command;
  /** What its group says of it. */
  readonly summary: string;
}

const SILENT = { write: () => undefined };

/** Every group of the command line, and every command that does something, in the order of their help. */
export function commandTree(): { groups: TreeEntry[]; leaves: TreeEntry[] } {
  const program = commandLine({
    env: {},
    stdin: Readable.from([]),
    stdout: SILENT,
    stderr: SILENT,
  });
  const all = below(program, '');
  const isGroup = ({ command }: TreeEntry): boolean => command.commands.length > 0;
  return {
    groups: [entry(program, ''), ...all.filter(isGroup)],
    leaves: all.filter((one) => !isGroup(one)),
  };
}

/** The names of the options of a command, such as `--reason`, without those of the whole program. */
export function optionsOf({ command }: TreeEntry): string[] {
  return command.options.map(({ long }) => long ?? '');
}

function below(group: Command, path: string): TreeEntry[] {
  return group.commands.flatMap((command) => {
    const own = `${path} ${command.name()}`.trim();
    return [entry(command, own), ...below(command, own)];
  });
}

function entry(command: Command, path: string): TreeEntry {
  return { path, command, summary: command.summary() || command.description() };
}
