import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { migrations } from '../../../src/platform/database/migrations/list.js';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { UsersService } from '../../../src/modules/users/users.service.js';
import { entities } from '../../../src/platform/database/transaction.js';
import { Browser } from '../../support/browser.js';
import {
  connect,
  onEachEngine,
  onEachServer,
  onSqlite,
  type TestDatabase,
} from '../../support/database.js';
import { authorizeLink, isTokenAccepted } from '../../support/oauth-flow.js';
import { releasedDatabase, restore, schemaOf } from '../../support/released.js';
import { expectPage } from '../../support/responses.js';
import { submitPhone, VERIFY } from '../../support/sign-in.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';
import { byExtent, IS_QUICK } from '../../suite.js';

const FIRST_RELEASE = '1.0.0';
const PREVIOUS_RELEASE = '1.1.0';
/** The fixed code of a test member. */
const CODE = '424242';
const LATER_MIGRATIONS = migrations.slice(1).map(({ name }) => name);
/** Long enough for the other processes to revert and migrate, if nothing stops them. */
const OTHER_PROCESSES_MS = 1500;
const NO_DIFFERENCE = { pending: [], unknown: [], statements: [] };
const ROUNDS = byExtent({ whole: 4, quick: 2 });
/** SQLite blocks the process while it waits, and all connections of a test share one process. */
const SHORT_TIMEOUT = { DB_TIMEOUT_MS: '100' };

const doNothing = async (): Promise<void> => undefined;

interface Upgraded {
  /** Opens a separate connection, as another process does. */
  open(): Promise<{ migrator: Migrator; dataSource: DataSource }>;
  /** The schema of the first release. */
  released: string[];
}

/** Restores a database of the first release and migrates it to this version before each test. */
function useUpgraded(database: TestDatabase): Upgraded {
  const open: DataSource[] = [];
  const upgraded: Upgraded = {
    released: [],
    open: async () => {
      const dataSource = await connect(
        database.url,
        database.engine.kind === 'sqlite' ? SHORT_TIMEOUT : {},
      );
      open.push(dataSource);
      return { migrator: new Migrator(dataSource), dataSource };
    },
  };
  beforeAll(async () => {
    await restore(database, await releasedDatabase(FIRST_RELEASE, database));
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

onEachEngine('Migrator: revert to a release', (database) => {
  const upgraded = useUpgraded(database);
  const schema = () => schemaOf(database);

  it('restores the released schema exactly, and migrates again', async () => {
    const { migrator } = await upgraded.open();
    const before = await schema();
    const reverted: string[] = [];
    const names = await migrator.revert(
      FIRST_RELEASE,
      async (_tx, name) => void reverted.push(name),
    );
    expect(names).toEqual(LATER_MIGRATIONS.toReversed());
    expect(reverted).toEqual(names);
    expect(await schema()).toEqual(upgraded.released);
    expect(await migrator.revert(FIRST_RELEASE, doNothing)).toEqual([]);
    expect(await migrator.migrate()).toEqual(LATER_MIGRATIONS);
    expect(await schema()).toEqual(before);
  });

  it('reverts each migration once if several processes revert', async () => {
    const processes = await Promise.all([upgraded.open(), upgraded.open(), upgraded.open()]);
    const reverted: string[] = [];
    await Promise.all(
      processes.map(({ migrator }) =>
        migrator.revert(FIRST_RELEASE, async (_tx, name) => void reverted.push(name)),
      ),
    );
    expect(reverted).toEqual(LATER_MIGRATIONS.toReversed());
    expect(await schema()).toEqual(upgraded.released);
  });

  it(
    'leaves a complete schema if another process migrates at the same time',
    { timeout: 60_000 },
    async () => {
      const [reverting, migrating] = await Promise.all([upgraded.open(), upgraded.open()]);
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all([
          reverting.migrator.revert(FIRST_RELEASE, doNothing),
          sleep(round * 15).then(() => migrating.migrator.migrate()),
        ]);
        const { pending, ...rest } = await migrating.migrator.difference();
        expect(rest).toEqual({ unknown: [], statements: [] });
        if (pending.length > 0) expect(await schema()).toEqual(upgraded.released);
      }
    },
  );

  it('reverts nothing if a newer version migrated the database', async () => {
    const { migrator, dataSource } = await upgraded.open();
    const later = 'Later1999999999999';
    await dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (1, '${later}')`);
    await expect(migrator.revert(FIRST_RELEASE, doNothing)).rejects.toThrow(
      `A newer version migrated this database: ${later}. Run "db revert" of that version.`,
    );
    await dataSource.query(`DELETE FROM migrations WHERE name = '${later}'`);
    expect(await migrator.difference()).toEqual(NO_DIFFERENCE);
  });
});

onEachEngine('Migrator: revert with test apps and test members', (database) => {
  it('O171 is refused while one of them is in use, and then leaves none that works', async () => {
    await restore(database, await releasedDatabase(PREVIOUS_RELEASE, database));
    const released = await schemaOf(database);
    const app = await TestApp.start(database);
    onTestFinished(() => app.stop());
    const migrator = app.service(Migrator);
    const client = await app.addClient({ test: true, accessTokenSeconds: 60 });
    const member = await app.addUser({ testCode: CODE });
    const [realClient, real] = [await app.addClient(), await app.addUser()];
    const token = await app.accessToken(member, client);
    expect(await isTokenAccepted(app, token)).toBe(true);

    const revert = () => migrator.revert(PREVIOUS_RELEASE, doNothing);
    const current = await schemaOf(database);
    const change = { actor: 'test' };
    await expect(revert()).rejects.toThrow(`such as ${client.clientId}. Disable each test app`);
    await app.service(AppsService).changeStatus(client.clientId, 'disabled', change);
    await expect(revert()).rejects.toThrow(`such as ${member.id}. Disable each test app`);
    expect(await schemaOf(database)).toEqual(current);
    await app.service(UsersService).changeStatus(member.id, 'blocked', change);
    expect(await revert()).toEqual(LATER_MIGRATIONS.slice(1).toReversed());
    expect(await schemaOf(database)).toEqual(released);

    await migrator.migrate();
    expect(await isTokenAccepted(app, token)).toBe(false);
    await app.service(UsersService).changeStatus(member.id, 'active', change);
    await app.service(AppsService).changeStatus(client.clientId, 'enabled', change);
    expect(await app.service(AppsService).get(client.clientId)).toMatchObject({ test: true });
    expect(await app.service(UsersService).get(member.id)).toMatchObject({ testCodeHash: null });
    expect(await isTokenAccepted(app, token)).toBe(false);
    for (const each of [client, realClient]) {
      app.clock.advance(61_000);
      const visitor = new Browser(app);
      const page = await submitPhone(visitor, authorizeLink(each), member.phone);
      expectPage(await visitor.submit(page, VERIFY, { code: CODE }), 400);
    }
    expect(await isTokenAccepted(app, await app.accessToken(real, realClient))).toBe(true);
  });

  it('marks test apps again in a run that continues an interrupted one', async () => {
    const dataSource = await connect(database.url);
    onTestFinished(() => dataSource.destroy());
    await dataSource.query('UPDATE apps SET test = 0');
    await dataSource.query('DELETE FROM migrations WHERE name = ?', ['AddTestMode1795938000000']);
    await new Migrator(dataSource).migrate();
    const rows: { id: string }[] = await dataSource.query(
      'SELECT client_id AS id FROM apps WHERE test = 1',
    );
    expect(rows).toEqual([{ id: expect.stringMatching(/^svc_app_test_/) }]);
  });
});

onSqlite('Migrator: failed revert', (database) => {
  const upgraded = useUpgraded(database);

  it('throws the original error if the rollback fails as well', async () => {
    const { migrator } = await upgraded.open();
    const revert = migrator.revert(FIRST_RELEASE, async (tx) => {
      await entities(tx).query('ROLLBACK');
      throw new Error('The audit trail is full.');
    });
    await expect(revert).rejects.toThrow('The audit trail is full.');
  });

  it('reverts migrations that have a class name but no property `name`', async () => {
    const { migrator, dataSource } = await upgraded.open();
    for (const migration of dataSource.migrations) Reflect.deleteProperty(migration, 'name');
    await migrator.revert(FIRST_RELEASE, doNothing);
    expect(await schemaOf(database)).toEqual(upgraded.released);
  });
});

onEachServer('Migrator: interrupted revert', (database) => {
  const upgraded = useUpgraded(database);

  it.skipIf(IS_QUICK).each([
    ['an index', 'DROP INDEX ix_audit_events_user_id ON audit_events'],
    ['a column', 'ALTER TABLE quota_usage DROP COLUMN closed_plan'],
    ['a table', 'DROP TABLE app_logo_parts'],
    ['a column of test mode', 'ALTER TABLE apps DROP COLUMN test'],
    [
      'the indices of a table',
      `DROP INDEX ix_comments_user_id ON comments; DROP INDEX ix_comments_deleted_at ON comments`,
    ],
  ])('continues after a run that has dropped %s', async (_what, statements) => {
    const { migrator, dataSource } = await upgraded.open();
    for (const statement of statements.split('; ')) await dataSource.query(statement);
    await migrator.revert(FIRST_RELEASE, doNothing);
    expect(await schemaOf(database)).toEqual(upgraded.released);
  });

  it('blocks other processes until the revert ends', { timeout: 60_000 }, async () => {
    const before = await schemaOf(database);
    const [reverting, migrating] = await Promise.all([upgraded.open(), upgraded.open()]);
    const proxy = await TcpProxy.start(database.url);
    const heldDataSource = await connect(proxy.url);
    const held = proxy.holdAfter('DROP INDEX `ix_audit_events_client_id`');
    const heldRevert = new Migrator(heldDataSource).revert(FIRST_RELEASE, doNothing);
    await held;
    const otherProcesses = reverting.migrator
      .revert(FIRST_RELEASE, doNothing)
      .then(() => migrating.migrator.migrate());
    await Promise.race([otherProcesses, sleep(OTHER_PROCESSES_MS)]);
    await proxy.repair();
    await Promise.all([heldRevert, otherProcesses]);
    await heldDataSource.destroy();
    await proxy.stop();
    expect(await schemaOf(database)).toEqual(before);
    expect(await migrating.migrator.difference()).toEqual(NO_DIFFERENCE);
  });
});
