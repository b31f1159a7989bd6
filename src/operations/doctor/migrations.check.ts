import { Injectable } from '@nestjs/common';
import { Migrator } from '../../database/migrator.js';
import { failed, ok, type Check, type Finding } from './check.js';

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
