import { onSqlite } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

/** SQLITE_SYNC_FULL: every commit is on the disk before it is answered. */
const FULL = 2;

onSqlite('What was committed to a file', (database) => {
  const app = useTestApp(database);

  it('outlives the machine, though the driver would leave the last commits to its memory', async () => {
    const [row] = await app().dataSource.query<{ synchronous: number }[]>('PRAGMA synchronous');
    expect(row).toEqual({ synchronous: FULL });
  });
});
