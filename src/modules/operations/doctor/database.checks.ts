import { Injectable } from '@nestjs/common';
import {
  DatabaseFacts,
  type DatabaseSettings,
  lacking,
} from '../../../platform/database/database-status.js';
import { Migrator } from '../../../platform/database/migrations/migrator.js';
import { ClockSkew } from '../../../platform/lifecycle/health.js';
import { type Check, failed, type Finding, ok, sentenceOf, warning } from './check.js';
import { WriteTrial } from './write-trial.repository.js';

const OLDEST = { SQLite: [3, 40], MariaDB: [10, 11], MySQL: [8, 4] } as const;
/** Each request asks the database several times. */
const SLOW_MS = 50;

/** Which database it is, and how fast it answers. */
@Injectable()
export class DatabaseServerCheck implements Check {
  readonly name = 'database';

  constructor(private readonly facts: DatabaseFacts) {}

  async run(): Promise<Finding[]> {
    const { name, version } = await this.facts.engine();
    const latency = await this.facts.latency();
    const sentence = `${name} ${version} answers in ${latency.toFixed(1)} ms.`;
    const [major, minor] = OLDEST[name];
    if (isOlder(version, major, minor))
      return [warning(sentence, `Upgrade it to ${name} ${major}.${minor} or newer.`)];
    if (latency > SLOW_MS) return [warning(sentence, 'Run the service nearer to its database.')];
    return [ok(sentence)];
  }
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return has < major || (has === major && hasMinor < minor);
}

/** Whether the server does what the service asks it for on every connection, and stores every character. */
@Injectable()
export class DatabaseSettingsCheck implements Check {
  readonly name = 'settings';

  constructor(private readonly facts: DatabaseFacts) {}

  async run(): Promise<Finding[]> {
    const settings = await this.facts.settings();
    if (settings === null) return [];
    const found = [...sessionFindings(settings), ...textFindings(settings)];
    return found.length > 0 ? found : [ok('Isolation, strict mode and character set are right.')];
  }
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

/** Whether the schema is the one of this version. */
@Injectable()
export class MigrationsCheck implements Check {
  readonly name = 'migrations';

  constructor(private readonly migrator: Migrator) {}

  async run(): Promise<Finding[]> {
    const { pending, unknown, statements } = await this.migrator.difference();
    const remedy = 'npm run -s cli -- db check';
    if (pending.length > 0)
      return [failed(`Pending: ${pending.join(', ')}.`, 'npm run -s cli -- db migrate')];
    if (unknown.length > 0) return [failed('A newer version migrated this database.', remedy)];
    if (statements.length > 0)
      return [failed('The schema is not what the migrations made.', remedy)];
    return [ok('The schema is what this version expects.')];
  }
}

/** What migrations do. */
const TO_MIGRATE = ['ALTER', 'CREATE', 'DROP', 'INDEX'];
const GRANT = 'GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.* TO <user>;';

/** What the user of DATABASE_URL may do: to write is tried and taken back, to change the schema is read from the grants. */
@Injectable()
export class PermissionsCheck implements Check {
  readonly name = 'permissions';

  constructor(
    private readonly facts: DatabaseFacts,
    private readonly trial: WriteTrial,
  ) {}

  async run(): Promise<Finding[]> {
    return [await this.writing(), ...(await this.migrating())];
  }

  private async writing(): Promise<Finding> {
    try {
      await this.trial.run();
      return ok('The service may read and write.');
    } catch (error) {
      return failed(`The service may not write. ${sentenceOf(error)}`, GRANT);
    }
  }

  private async migrating(): Promise<Finding[]> {
    const privileges = await this.facts.privileges();
    if (privileges === null) return [];
    const missing = lacking(privileges, TO_MIGRATE).join(', ');
    if (missing === '') return [ok('"db migrate" may change the schema.')];
    const unless = privileges.hasRoles ? ', unless a role gives it' : '';
    return [
      warning(
        `"db migrate" lacks ${missing}${unless}. The service itself works without.`,
        `GRANT ${missing} ON <database>.* TO <user>;`,
      ),
    ];
  }
}

/** Whether this machine and the database agree on the time. */
@Injectable()
export class ClockCheck implements Check {
  readonly name = 'clock';

  constructor(private readonly clockSkew: ClockSkew) {}

  async run(): Promise<Finding[]> {
    const problem = await this.clockSkew.problem();
    if (problem === undefined) return [ok('The clock agrees with the database.')];
    const [what = '', remedy] = problem.split(': ');
    return [failed(`${capitalized(what)}.`, remedy && `${capitalized(remedy)}.`)];
  }
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
