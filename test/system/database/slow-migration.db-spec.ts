import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { isDatabaseUnavailable } from '../../../src/platform/database/errors.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { dataSourceOptions } from '../../../src/platform/database/data-source.js';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import { onEachServer } from '../../support/database.js';

/** Longer than the statement timeout plus two seconds, after which a connection without a response is closed. */
const SLOW_SECONDS = 2.5;
const SHORTEST_TIMEOUT_MS = '100';

/** Copies rows into a table, slowly. */
class SlowCopy1900000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE slow_copy AS SELECT SLEEP(${SLOW_SECONDS}) AS interrupted`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('slow_copy');
  }
}

onEachServer('Slow migrations', ({ url }) => {
  it('are not subject to the timeout of statements', { timeout: 30_000 }, async () => {
    const { database } = loadConfig({ DATABASE_URL: url, DB_TIMEOUT_MS: SHORTEST_TIMEOUT_MS });
    const dataSource = await new DataSource({
      ...(await dataSourceOptions(database, [])),
      migrations: [SlowCopy1900000000000],
    }).initialize();
    try {
      expect(await new Migrator(dataSource).migrate()).toEqual([SlowCopy1900000000000.name]);
      const [copied]: object[] = await dataSource.query(
        'SELECT CONCAT(interrupted) AS value FROM slow_copy',
      );
      expect(copied).toEqual({ value: '0' });
      const slowRead = `SELECT interrupted, SLEEP(${SLOW_SECONDS}) FROM slow_copy`;
      await expect(dataSource.query(slowRead)).rejects.toSatisfy(isDatabaseUnavailable);
    } finally {
      await dataSource.destroy();
    }
  });
});
