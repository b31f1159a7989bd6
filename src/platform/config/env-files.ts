import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * An assignment such as `NETWORK_COLOR='#0d5c4d'`, also after `export`. A quoted value may have several lines, whose contents are no
 * assignments.
 */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?(?<name>[A-Za-z_]\w*)(?<value>[ \t]*=[ \t]*(?:"[^"]*"|'[^']*')?.*)$/gm;

/** A value that Node.js and shells read alike in spite of `#`: in quotes as a whole, or before a comment that follows a blank. */
const UNAMBIGUOUS = /^=(?:"[^"]*"|'[^']*'|(?![ \t])[^#"'`]*?|)(?:(?<!\\)[ \t]+#.*|[ \t]*)$/;

/** A line of a file of `--env-file` that Node.js and shells read differently. */
export interface EnvFileProblem {
  /** The name of the variable. */
  name: string;
  /** Without the value, which may be a secret. */
  message: string;
}

/** The paths of `--env-file` and `--env-file-if-exists` among the options of Node.js, which accepts `_` for `-`. */
export function envFilesOf(options: readonly string[]): string[] {
  return options.flatMap((option, index) => {
    const [, path] = /^--env[-_]file(?:[-_]if[-_]exists)?(?:=(.*))?$/s.exec(option) ?? [
      option,
      null,
    ];
    return path === null ? [] : (path ?? options[index + 1] ?? []);
  });
}

/**
 * Reads the files of `--env-file` again. Node.js ends an unquoted value at `#`, a shell does not, so the service and the command line
 * would use different values.
 */
export function envFileProblems(paths: readonly string[]): EnvFileProblem[] {
  return paths.flatMap((path) => {
    const text = textOf(path);
    return [...text.matchAll(ASSIGNMENT)].flatMap(({ index, groups }) => {
      const { name = '', value = '' } = groups ?? {};
      if (!value.includes('#') || UNAMBIGUOUS.test(value)) return [];
      const line = text.slice(0, index).split('\n').length;
      const message = `${name}: Node.js and shells read different values from line ${line} of ${path}; write it as ${name}='…'`;
      return [{ name, message }];
    });
  });
}

/**
 * The variables among `names` that `.env` in the current folder sets and the environment lacks. A file that `--env-file` or a shell
 * has read leaves none.
 */
export function unreadVariables(
  environment: NodeJS.ProcessEnv,
  names: ReadonlySet<string>,
): string[] {
  return Object.entries(parseEnv(textOf('.env'))).flatMap(([name, value]) =>
    names.has(name) && value !== '' && environment[name] === undefined ? [name] : [],
  );
}

/** Empty if the file does not exist: Node.js reports that itself where it matters. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
