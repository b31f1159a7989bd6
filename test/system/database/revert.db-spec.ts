import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { migrations } from '../../../src/database/migrations.js';
import { Migrator } from '../../../src/database/migrator.js';
import { RELEASES } from '../../../src/database/releases.js';
import { entities } from '../../../src/database/transaction.js';
import {
  connect,
  onEachEngine,
  onEachServer,
  onSqlite,
  type TestDatabase,
} from '../../support/database.js';
import { releasedDatabase, restore, schemaOf } from '../../support/released.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const FIRST = '1.0.0';
const SINCE = migrations.slice(1).map(({ name }) => name);
/** For others to go back and forward, if they may. */
const LONG_ENOUGH_MS = 3000;
const NONE = { pending: [], unknown: [], statements: [] };
const ROUNDS = 4;
/** SQLite waits without letting go of the process, which the others of a test share. */
const IMPATIENT = { DB_TIMEOUT_MS: '100' };

const nobodyAsks = async (): Promise<void> => undefined;

interface Upgraded {
  /** A connection of its own, as another process has. */
  open(): Promise<{ migrator: Migrator; dataSource: DataSource }>;
  /** The schema before the upgrade. */
  released: string[];
}

/** A database of the first release, with the schema of this version before each test. */
function useUpgraded(database: TestDatabase): Upgraded {
  const open: DataSource[] = [];
  const upgraded: Upgraded = {
    released: [],
    open: async () => {
      const dataSource = await connect(
        database.url,
        database.engine.kind === 'sqlite' ? IMPATIENT : {},
      );
      open.push(dataSource);
      return { migrator: new Migrator(dataSource), dataSource };
    },
  };
  beforeAll(async () => {
    await restore(database, await releasedDatabase(FIRST, database));
    upgraded.released = await schemaOf(database);
  });
  beforeEach(async () => {
    const dataSource = await connect(database.url);
    await new Migrator(dataSource).migrate();
    await dataSource.destroy();
  });
  afterEach(() => Promise.all(open.splice(0).map((dataSource) => dataSource.destroy())));
  return upgraded;
}

it('knows of each release which migration is its newest, the first of all included', () => {
  const names = migrations.map(({ name }) => name);
  const places = Object.values(RELEASES).map((name) => names.indexOf(name));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

onEachEngine('A schema that goes back to a release', (database) => {
  const upgraded = useUpgraded(database);
  const schema = () => schemaOf(database);

  it('is exactly what it was, and comes forward again', async () => {
    const { migrator } = await upgraded.open();
    const before = await schema();
    const undone: string[] = [];
    const names = await migrator.revert(FIRST, async (_tx, name) => void undone.push(name));
    expect(names).toEqual(SINCE.toReversed());
    expect(undone).toEqual(names);
    expect(await schema()).toEqual(upgraded.released);
    expect(await migrator.revert(FIRST, nobodyAsks)).toEqual([]);
    expect(await migrator.migrate()).toEqual(SINCE);
    expect(await schema()).toEqual(before);
  });

  it('is undone once by several processes at once', async () => {
    const processes = await Promise.all([upgraded.open(), upgraded.open(), upgraded.open()]);
    const undone: string[] = [];
    await Promise.all(
      processes.map(({ migrator }) =>
        migrator.revert(FIRST, async (_tx, name) => void undone.push(name)),
      ),
    );
    expect(undone).toEqual(SINCE.toReversed());
    expect(await schema()).toEqual(upgraded.released);
  });

  it(
    'is whole in either direction when others migrate meanwhile',
    { timeout: 60_000 },
    async () => {
      const [back, forward] = await Promise.all([upgraded.open(), upgraded.open()]);
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all([
          back.migrator.revert(FIRST, nobodyAsks),
          sleep(round * 15).then(() => forward.migrator.migrate()),
        ]);
        const { pending, ...rest } = await forward.migrator.difference();
        expect(rest).toEqual({ unknown: [], statements: [] });
        if (pending.length > 0) expect(await schema()).toEqual(upgraded.released);
      }
    },
  );

  it('stays as it is when a newer version migrated it', async () => {
    const { migrator, dataSource } = await upgraded.open();
    const later = 'Later1999999999999';
    await dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (1, '${later}')`);
    await expect(migrator.revert(FIRST, nobodyAsks)).rejects.toThrow(
      `A newer version migrated this database: ${later}. Run "db revert" of that version.`,
    );
    await dataSource.query(`DELETE FROM migrations WHERE name = '${later}'`);
    expect(await migrator.difference()).toEqual(NONE);
  });
});

onSqlite('A schema whose way back to a release fails', (database) => {
  const upgraded = useUpgraded(database);

  it('tells of what failed, and not that it could not be rolled back any more', async () => {
    const { migrator } = await upgraded.open();
    const failing = migrator.revert(FIRST, async (tx) => {
      await entities(tx).query('ROLLBACK');
      throw new Error('The audit trail is full.');
    });
    await expect(failing).rejects.toThrow('The audit trail is full.');
  });

  it('goes back by migrations that are called by their class alone, too', async () => {
    const { migrator, dataSource } = await upgraded.open();
    for (const migration of dataSource.migrations) Reflect.deleteProperty(migration, 'name');
    await migrator.revert(FIRST, nobodyAsks);
    expect(await schemaOf(database)).toEqual(upgraded.released);
  });
});

onEachServer('A schema on its way back to a release', (database) => {
  const upgraded = useUpgraded(database);

  it.each([
    ['an index', 'DROP INDEX ix_audit_events_user_id ON audit_events'],
    ['a column', 'ALTER TABLE quota_usage DROP COLUMN closed_plan'],
    [
      'the indices of a table',
      `DROP INDEX ix_comments_user_id ON comments; DROP INDEX ix_comments_deleted_at ON comments`,
    ],
  ])('goes on where a run has dropped %s', async (_what, statements) => {
    const { migrator, dataSource } = await upgraded.open();
    for (const statement of statements.split('; ')) await dataSource.query(statement);
    await migrator.revert(FIRST, nobodyAsks);
    expect(await schemaOf(database)).toEqual(upgraded.released);
  });

  it('is left alone by those who would overtake it', { timeout: 60_000 }, async () => {
    const before = await schemaOf(database);
    const [swift, forward] = await Promise.all([upgraded.open(), upgraded.open()]);
    const proxy = await TcpProxy.start(database.url);
    const slow = await connect(proxy.url);
    const held = proxy.holdAfter('DROP INDEX `ix_audit_events_client_id`');
    const undoing = new Migrator(slow).revert(FIRST, nobodyAsks);
    await held;
    const overtaking = swift.migrator
      .revert(FIRST, nobodyAsks)
      .then(() => forward.migrator.migrate());
    await Promise.race([overtaking, sleep(LONG_ENOUGH_MS)]);
    await proxy.mend();
    await Promise.all([undoing, overtaking]);
    await slow.destroy();
    await proxy.stop();
    expect(await schemaOf(database)).toEqual(before);
    expect(await forward.migrator.difference()).toEqual(NONE);
  });
});
