import {
  type DatabaseFacts,
  type DatabaseSettings,
  missingPrivileges,
} from '../../../platform/database/database-status.js';
import type { Migrator } from '../../../platform/database/migrations/migrator.js';
import type { ClockSkew } from '../../../platform/lifecycle/health.js';
import type { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import { failed, type Finding, ok, sentenceOf, warning } from './check.js';

const OLDEST_SUPPORTED = { SQLite: [3, 40], MariaDB: [10, 11], MySQL: [8, 4] } as const;
/** A request takes several round trips. */
const SLOW_MS = 50;

/** The product, its version and its latency. */
export async function serverFinding(facts: DatabaseFacts): Promise<Finding> {
  const { name, version } = await facts.engine();
  const latency = await facts.latency();
  const sentence = `${name} ${version} answers in ${latency.toFixed(1)} ms.`;
  const [major, minor] = OLDEST_SUPPORTED[name];
  if (isOlder(version, major, minor))
    return warning(sentence, `Upgrade it to ${name} ${major}.${minor} or newer.`);
  if (latency > SLOW_MS) return warning(sentence, 'Run the service nearer to its database.');
  return ok(sentence);
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return has < major || (has === major && hasMinor < minor);
}

/** The settings of connections, and the character sets of tables. */
export async function settingsFindings(facts: DatabaseFacts): Promise<Finding[]> {
  const settings = await facts.settings();
  if (settings === null) return [];
  const found = [...sessionFindings(settings), ...textFindings(settings)];
  return found.length > 0 ? found : [ok('Isolation, strict mode and character set are right.')];
}

function sessionFindings({ isolation, sqlModes }: DatabaseSettings): Finding[] {
  const remedy = 'Look for a proxy between service and server that undoes what SET SESSION sets.';
  const found: Finding[] = [];
  if (isolation !== 'READ-COMMITTED')
    found.push(failed(`Transactions run at ${isolation}, not at READ COMMITTED.`, remedy));
  if (!sqlModes.includes('STRICT_ALL_TABLES'))
    found.push(failed('What does not fit into a column is cut, not refused.', remedy));
  return found;
}

function textFindings({ collation, defaultCollation, otherTables }: DatabaseSettings): Finding[] {
  const found = otherTables.map((table) =>
    failed(
      `The table ${table} may not hold every character, or tell each from the other.`,
      `ALTER TABLE ${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation};`,
    ),
  );
  if (defaultCollation !== collation)
    found.push(
      warning(
        `Tables of later versions would be made with the collation ${defaultCollation}.`,
        `ALTER DATABASE CHARACTER SET utf8mb4 COLLATE ${collation};`,
      ),
    );
  return found;
}

export async function migrationsFinding(migrator: Migrator): Promise<Finding> {
  const { pending, unknown, statements } = await migrator.difference();
  const remedy = 'npm run -s cli -- db check';
  if (pending.length > 0)
    return failed(`Pending: ${pending.join(', ')}.`, 'npm run -s cli -- db migrate');
  if (unknown.length > 0) return failed('A newer version migrated this database.', remedy);
  if (statements.length > 0) return failed('The schema is not what the migrations made.', remedy);
  return ok('The schema is what this version expects.');
}

const MIGRATION_PRIVILEGES = ['ALTER', 'CREATE', 'DROP', 'INDEX'];
const GRANT = 'GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.* TO <user>;';

/** Whether the user of DATABASE_URL may write: tried in a transaction that is rolled back. */
export async function writeFinding(runs: JobRunsRepository): Promise<Finding> {
  try {
    await runs.checkWritable();
    return ok('The service may read and write.');
  } catch (error) {
    return failed(`The service may not write. ${sentenceOf(error)}`, GRANT);
  }
}

/** Whether the user of DATABASE_URL may migrate: read from the grants. */
export async function migrateFindings(facts: DatabaseFacts): Promise<Finding[]> {
  const privileges = await facts.privileges();
  if (privileges === null) return [];
  const missing = missingPrivileges(privileges, MIGRATION_PRIVILEGES).join(', ');
  if (missing === '') return [ok('"db migrate" may change the schema.')];
  const unless = privileges.hasRoles ? ', unless a role gives it' : '';
  return [
    warning(
      `"db migrate" lacks ${missing}${unless}. The service itself works without.`,
      `GRANT ${missing} ON <database>.* TO <user>;`,
    ),
  ];
}

export async function clockFinding(clockSkew: ClockSkew): Promise<Finding> {
  const problem = await clockSkew.problem();
  if (problem === undefined) return ok('The clock agrees with the database.');
  const [summary = '', remedy] = problem.split(': ');
  return failed(`${capitalized(summary)}.`, remedy && `${capitalized(remedy)}.`);
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
