import { readFileSync } from 'node:fs';

/** A line such as `NETWORK_COLOR=#0d5c4d`, also after `export`. */
const ASSIGNMENT = /^\s*(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*=(?<value>.*)$/;

/** An unquoted value with `#` that does not follow a blank, so that it begins no comment for a shell. */
const UNQUOTED_HASH = /^(?!\s*["'`])(?:[^#]*[^\s#])?#/;

/** The paths of `--env-file` and `--env-file-if-exists` among the options of Node.js. */
export function envFilesOf(options: readonly string[]): string[] {
  return options.flatMap((option, index) => {
    const [, path] = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(option) ?? [option, null];
    return path === null ? [] : (path ?? options[index + 1] ?? []);
  });
}

/**
 * Reads the files of `--env-file` again. Node.js ends an unquoted value at `#`, a shell does not, so the service and the command line
 * would use different values.
 * @param names the variables to check
 * @returns a problem for each such value, without the value
 */
export function envFileProblems(paths: readonly string[], names: ReadonlySet<string>): string[] {
  return paths.flatMap((path) => {
    const lines = textOf(path).split(/\r?\n/);
    return lines.flatMap((line, index) => {
      const { name = '', value = '' } = ASSIGNMENT.exec(line)?.groups ?? {};
      if (!names.has(name) || !UNQUOTED_HASH.test(value)) return [];
      return `${name}: Node.js ends the value in line ${index + 1} of ${path} at #, but a shell does not; write the value in quotes`;
    });
  });
}

/** Empty if the file does not exist: Node.js reports that itself where it matters. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
