/* Imported by commands before the application starts: must not import TypeORM. */

/** Of each release the newest migration that it knows: its schema is what the migrations up to this one make. */
export const RELEASES = {
  '1.0.0': 'CreatePlatform1795219200000',
} as const;

export type Release = keyof typeof RELEASES;

/** A newer version migrated the database, and this one does not know how to undo that. */
export class SchemaIsNewer extends Error {
  /** @param names of the migrations that this version does not know */
  constructor(names: readonly string[]) {
    super(
      `A newer version migrated this database: ${names.join(', ')}. Run "db revert" of that version.`,
    );
  }
}
