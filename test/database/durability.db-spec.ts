import { onSqlite } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

/** SQLITE_SYNC_FULL: a commit returns after its data is on the disk. */
const FULL = 2;

onSqlite('Durability of SQLite', (database) => {
  const app = useTestApp(database);

  it('writes every commit to the disk, which is not the default of the driver', async () => {
    const [row] = await app().dataSource.query<{ synchronous: number }[]>('PRAGMA synchronous');
    expect(row).toEqual({ synchronous: FULL });
  });
});
