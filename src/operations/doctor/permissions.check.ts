import { Injectable } from '@nestjs/common';
import { DatabaseFacts } from '../../database/database-facts.js';
import { lacking } from '../../database/grants.js';
import { failed, ok, warning, type Check, type Finding } from './check.js';
import { sentenceOf } from './examination.js';
import { WriteTrial } from './write-trial.repository.js';

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
