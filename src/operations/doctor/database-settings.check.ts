import { Injectable } from '@nestjs/common';
import { DatabaseFacts, type DatabaseSettings } from '../../database/database-facts.js';
import { failed, ok, warning, type Check, type Finding } from './check.js';

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
