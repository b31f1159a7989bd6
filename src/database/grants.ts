/** What a user may do in a database. */
export interface Privileges {
  /** Such as `SELECT`; `ALL PRIVILEGES` alone is all of them. */
  names: ReadonlySet<string>;
  /** Whether the user has roles, which may give more. */
  hasRoles: boolean;
}

const ALL = 'ALL PRIVILEGES';
/** Grants on whole databases; those on one table say nothing of tables to come. */
const ON_DATABASE = /^GRANT (.+) ON (\*|`(?:[^`]|``)+`)\.\* TO /;
const ROLE = /^GRANT (?!.* ON ).+ TO /;

/** Reads the lines of SHOW GRANTS for one database. */
export function privilegesOn(database: string, grants: readonly string[]): Privileges {
  const names = new Set<string>();
  for (const grant of grants) {
    const [, privileges = '', pattern = ''] = ON_DATABASE.exec(grant) ?? [];
    if (!covers(pattern, database)) continue;
    for (const name of privileges.split(/, ?/)) names.add(name);
  }
  return { names, hasRoles: grants.some((grant) => ROLE.test(grant)) };
}

/** Those of `wanted` that are not among the privileges. */
export function lacking({ names }: Privileges, wanted: readonly string[]): string[] {
  return names.has(ALL) ? [] : wanted.filter((name) => !names.has(name));
}

/** The database's name in a grant is a pattern as of LIKE: `_` and `%` stand for any character and any text. */
function covers(pattern: string, database: string): boolean {
  if (pattern === '*') return true;
  const name = pattern.slice(1, -1).replaceAll('``', '`');
  const source = name.replaceAll(/\\([_%\\])|[^a-z0-9]/giu, (part, literal?: string) => {
    if (part === '_') return '.';
    if (part === '%') return '.*';
    return `\\u{${(literal ?? part).codePointAt(0)?.toString(16)}}`;
  });
  return new RegExp(`^${source}$`, 'su').test(database);
}
