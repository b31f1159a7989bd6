/* Commands import this file before the application starts, so it must not import TypeORM. */

/** The newest migration of each release. */
export const RELEASES = {
  '1.0.0': 'CreatePlatform1795219200000',
  '1.1.0': 'Operate1795298400000',
  '1.2.0': 'AddWebhooks1795966800000',
} as const;

export type Release = keyof typeof RELEASES;

/** The operator must change something before a migration can run. The message says what. */
export class MigrationRefused extends Error {}

/** The database has migrations of a newer version, which this version cannot revert. */
export class SchemaIsNewer extends MigrationRefused {
  /** @param names the unknown migrations */
  constructor(names: readonly string[]) {
    super(
      `A newer version migrated this database: ${names.join(', ')}. Run "db revert" of that version.`,
    );
  }
}
