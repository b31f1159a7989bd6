import { TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Drops the index of code challenges, which no statement reads. Gives `authorizations.token_hash` a default, because this version does
 * not write it. The column stays, because version 1.1 writes it and may run beside this one.
 */
export class RetireUnused1795827891000 implements MigrationInterface {
  readonly name = 'RetireUnused1795827891000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await setTokenHashDefault(queryRunner, `''`);
    const ifExists = true;
    await queryRunner.dropIndex('authorization_codes', challengeIndex.name ?? '', ifExists);
  }

  /** Continues an interrupted run, because MySQL and MariaDB commit each step separately. */
  async down(queryRunner: QueryRunner): Promise<void> {
    const codes = await queryRunner.getTable('authorization_codes');
    if (!codes?.indices.some(({ name }) => name === challengeIndex.name))
      await queryRunner.createIndex('authorization_codes', challengeIndex);
    await setTokenHashDefault(queryRunner, undefined);
  }
}

const challengeIndex = new TableIndex({
  name: 'ix_authorization_codes_code_challenge',
  columnNames: ['code_challenge'],
});

/** @param value SQL */
async function setTokenHashDefault(
  queryRunner: QueryRunner,
  value: string | undefined,
): Promise<void> {
  if (queryRunner.dataSource.options.type !== 'better-sqlite3') {
    // TypeORM would restate the type, and MySQL would then show the column differently.
    const change = value === undefined ? 'DROP DEFAULT' : `SET DEFAULT ${value}`;
    await queryRunner.query(`ALTER TABLE authorizations ALTER COLUMN token_hash ${change}`);
    return;
  }
  const table = await queryRunner.getTable('authorizations');
  const column = table?.findColumnByName('token_hash');
  if (!table || !column) throw new Error('Column "authorizations.token_hash" does not exist.');
  const changed = column.clone();
  changed.default = value;
  await queryRunner.changeColumn(table, column, changed);
}
