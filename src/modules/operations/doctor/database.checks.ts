import {
  type DatabaseDiagnostics,
  type DatabaseSettings,
  missingPrivileges,
} from '../../../platform/database/database-status.js';
import type { Migrator } from '../../../platform/database/migrations/migrator.js';
import type { ClockSkew } from '../../../platform/lifecycle/clock-skew.js';
import type { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import { capitalized, failed, type Finding, ok, messageOf, warning } from './check.js';

const OLDEST_SUPPORTED = { SQLite: [3, 40], MariaDB: [10, 11], MySQL: [8, 4] } as const;
/** A request needs several round trips. */
const SLOW_MS = 50;

/** Checks the database product, its version and its latency. */
export async function serverFinding(diagnostics: DatabaseDiagnostics): Promise<Finding> {
  const { name, version } = await diagnostics.engine();
  const latency = await diagnostics.latency();
  const summary = `${name} ${version} responds in ${latency.toFixed(1)} ms.`;
  const [major, minor] = OLDEST_SUPPORTED[name];
  if (isOlder(version, major, minor))
    return warning(summary, `Upgrade to ${name} ${major}.${minor} or newer.`);
  if (latency > SLOW_MS) return warning(summary, 'Run the service closer to its database.');
  return ok(summary);
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [actualMajor = 0, actualMinor = 0] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return actualMajor < major || (actualMajor === major && actualMinor < minor);
}

/** Checks the session settings and the character sets of tables. Returns nothing on SQLite. */
export async function settingsFindings(diagnostics: DatabaseDiagnostics): Promise<Finding[]> {
  const settings = await diagnostics.settings();
  if (settings === null) return [];
  const found = [...sessionFindings(settings), ...textFindings(settings)];
  return found.length > 0
    ? found
    : [ok('Isolation level, strict mode and character set are correct.')];
}

function sessionFindings({ isolation, sqlModes, characterSets }: DatabaseSettings): Finding[] {
  const remedy =
    'Find the proxy between the service and the database that resets session variables.';
  const found: Finding[] = [];
  if (isolation !== 'READ-COMMITTED')
    found.push(failed(`The isolation level is ${isolation}, not READ-COMMITTED.`, remedy));
  if (!sqlModes.includes('STRICT_ALL_TABLES'))
    found.push(
      failed('Strict mode is off, so values that are too long for a column are truncated.', remedy),
    );
  for (const [variable, name] of Object.entries(characterSets))
    if (name !== 'utf8mb4')
      found.push(failed(`${variable} is ${name}, not utf8mb4, so texts are damaged.`, remedy));
  return found;
}

function textFindings({
  expectedCollation: collation,
  defaultCollation,
  tablesWithOtherCollation,
}: DatabaseSettings): Finding[] {
  const found = tablesWithOtherCollation.map((table) =>
    failed(
      `The table ${table} does not use utf8mb4 with the collation ${collation}.`,
      `ALTER TABLE ${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation};`,
    ),
  );
  if (defaultCollation !== collation)
    found.push(
      warning(
        `New tables would get the collation ${defaultCollation}.`,
        `ALTER DATABASE CHARACTER SET utf8mb4 COLLATE ${collation};`,
      ),
    );
  return found;
}

export async function migrationsFinding(migrator: Migrator): Promise<Finding> {
  const { pending, unknown, statements } = await migrator.difference();
  const remedy = 'To see the differences: devplatform db check';
  if (pending.length > 0)
    return failed(`Pending: ${pending.join(', ')}.`, 'devplatform db migrate');
  if (unknown.length > 0) return failed('A newer version migrated this database.', remedy);
  if (statements.length > 0) return failed('The schema differs from the migrations.', remedy);
  return ok('The schema matches this version.');
}

const MIGRATION_PRIVILEGES = ['ALTER', 'CREATE', 'DROP', 'INDEX'];
const GRANT_READ_WRITE = 'GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.* TO <user>;';

/** Checks that the database user can write, in a transaction that is rolled back. */
export async function writeFinding(runs: JobRunsRepository): Promise<Finding> {
  try {
    await runs.checkWritable();
    return ok('The service can read and write.');
  } catch (error) {
    return failed(`The service cannot write. ${messageOf(error)}`, GRANT_READ_WRITE);
  }
}

/** Checks that the database user has the privileges for migrations. Returns nothing on SQLite. */
export async function migrationPrivilegeFindings(
  diagnostics: DatabaseDiagnostics,
): Promise<Finding[]> {
  const privileges = await diagnostics.privileges();
  if (privileges === null) return [];
  const missing = missingPrivileges(privileges, MIGRATION_PRIVILEGES).join(', ');
  if (missing === '') return [ok('"db migrate" can change the schema.')];
  const unless = privileges.hasRoles ? ', unless a role grants them' : '';
  return [
    warning(
      `"db migrate" lacks privileges: ${missing}${unless}. The service itself does not need them.`,
      `GRANT ${missing} ON <database>.* TO <user>;`,
    ),
  ];
}

export async function clockFinding(clockSkew: ClockSkew): Promise<Finding> {
  const problem = await clockSkew.problem();
  if (problem === undefined) return ok('The clock agrees with that of the database.');
  // The text of a problem ends with a colon and the remedy.
  const [summary = '', remedy] = problem.split(': ');
  return failed(`${capitalized(summary)}.`, remedy && `${capitalized(remedy)}.`);
}
