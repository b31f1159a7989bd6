/** A newer version migrated the database, and this one does not know how to undo that. */
export class SchemaIsNewer extends Error {
  /** @param names of the migrations that this version does not know */
  constructor(names: readonly string[]) {
    super(
      `A newer version migrated this database: ${names.join(', ')}. Run "db revert" of that version.`,
    );
  }
}
