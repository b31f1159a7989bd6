import type { DataSource } from 'typeorm';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import {
  CommandLine,
  runCommand,
  runCommandProcess,
  SHORT_REQUESTS,
} from '../../support/command-line.js';
import {
  connect,
  onEachEngine,
  onEachServer,
  onSqlite,
  type TestDatabase,
} from '../../support/database.js';
import { IS_QUICK } from '../../suite.js';

interface Check {
  current: boolean;
  pending: string[];
  unknown: string[];
  statements: string[];
}

interface Status {
  current: boolean;
  migrations: { name: string; applied: boolean }[];
}

/** Creates the file of SQLite, without tables. */
async function createEmpty({ url }: TestDatabase): Promise<void> {
  await (await connect(url)).destroy();
}

onEachEngine('Commands on an empty database', (database) => {
  const cli = new CommandLine(database);
  beforeAll(() => createEmpty(database));

  it('require "db migrate", list pending migrations, and migrate once', async () => {
    expect(await cli.run('app', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The database has pending migrations. Run "devplatform db migrate" first.\n',
    });
    const before = await cli.json<Status>('db', 'status');
    expect(before.current).toBe(false);
    expect(before.migrations.length).toBeGreaterThan(0);
    expect((await cli.run('db', 'status')).stdout).toMatch(/^pending {2}\S+/);

    const names = before.migrations.map(({ name }) => name);
    expect(await cli.json('db', 'migrate')).toEqual({ applied: names });
    expect(await cli.json('db', 'migrate')).toEqual({ applied: [] });
    expect((await cli.run('db', 'migrate')).stdout).toBe('The database is up to date.\n');
    expect(await cli.json<Status>('db', 'status')).toEqual({
      current: true,
      migrations: names.map((name) => ({ name, applied: true })),
    });
    expect(await cli.json('app', 'list')).toEqual([]);
  }, 90_000);
});

onEachEngine('Command "db check"', (database) => {
  const cli = new CommandLine(database);
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(database.url);
  });
  afterAll(() => dataSource.destroy());

  /** Runs the command, which must report a difference. Returns its output as JSON and as text. */
  async function difference(): Promise<{ check: Check; text: string; message: string }> {
    const text = await cli.run('db', 'check');
    const json = await cli.run('db', 'check', '--json');
    expect([text.code, json.code]).toEqual([1, 1]);
    expect(json.stderr).toBe(text.stderr);
    const check = JSON.parse(json.stdout) as Check;
    expect(check.current).toBe(false);
    return { check, text: text.stdout, message: text.stderr };
  }

  it('compares the database with this version and changes nothing', async () => {
    const empty = await difference();
    expect(empty.check.pending.length).toBeGreaterThan(1);
    expect(empty.text).toMatch(/^pending {2}CreatePlatform\d+\n/);
    expect(empty.message).toContain('Run "devplatform db migrate"');

    await new Migrator(dataSource).migrate();
    const none = { pending: [], unknown: [], statements: [] };
    expect(await cli.json('db', 'check')).toEqual({ current: true, ...none });
    expect(await cli.run('db', 'check')).toEqual({
      code: 0,
      stdout: 'The schema matches this version.\n',
      stderr: '',
    });

    await dataSource.query(
      "INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')",
    );
    await dataSource.query('ALTER TABLE posts ADD COLUMN later integer');
    const newer = await difference();
    expect(newer.check).toEqual({ current: false, ...none, unknown: ['Later1999999999999'] });
    expect(newer.message).toContain('run "db revert" of the newer version');
    await dataSource.query('ALTER TABLE posts DROP COLUMN later');
    await dataSource.query("DELETE FROM migrations WHERE name = 'Later1999999999999'");

    await dataSource.query(
      `DROP INDEX ix_posts_deleted_at${database.engine.kind === 'sqlite' ? '' : ' ON posts'}`,
    );
    const changed = await difference();
    expect(changed.check.statements).toEqual([
      expect.stringMatching(/^CREATE INDEX .ix_posts_deleted_at. ON .posts. /),
    ]);
    expect(changed.message).toContain('The schema was changed outside of migrations.');
    await dataSource.query('CREATE INDEX ix_posts_deleted_at ON posts (deleted_at)');
    expect(await cli.json('db', 'check')).toMatchObject({ current: true });
  });
});

onEachServer('Command "db migrate" while a table is locked', (database) => {
  it('waits and prints only its result', { timeout: 60_000 }, async () => {
    const dataSource = await connect(database.url);
    await new Migrator(dataSource).migrate();
    const reverted = await new Migrator(dataSource).revert('1.0.0', async () => undefined);
    const reader = dataSource.createQueryRunner();
    await reader.startTransaction();
    await reader.query('SELECT * FROM posts');
    const env = { DATABASE_URL: database.url, DB_TIMEOUT_MS: '1000' };
    const migrating = runCommandProcess(['db', 'migrate', '--json'], env);
    const waiting = `SELECT id FROM information_schema.processlist
      WHERE db = DATABASE() AND state LIKE 'Waiting for table metadata lock%'`;
    const countWaiting = async (): Promise<number> =>
      (await dataSource.query<object[]>(waiting)).length;
    await expect.poll(countWaiting, { timeout: 15_000 }).toBe(1);
    // The first attempt ends with a lock wait timeout. The command retries.
    await expect.poll(countWaiting, { timeout: 15_000 }).toBe(0);
    await reader.commitTransaction();
    await reader.release();
    const { code, stdout, stderr } = await migrating;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ applied: reverted.toReversed() });
    await dataSource.destroy();
  });
});

(IS_QUICK ? onSqlite : onEachEngine)('Command "db revert"', (database) => {
  const cli = new CommandLine(database, runCommand, SHORT_REQUESTS);
  beforeAll(() => createEmpty(database));

  it('reverts once to the schema of a release, and rejects an unknown release', async () => {
    const revert = (...more: string[]) => cli.run('db', 'revert', '1.0.0', ...more);
    const none = 'No migrations to revert: the schema is that of 1.0.0.\n';
    expect((await revert('--yes')).stdout).toBe(none);
    const { applied } = await cli.json<{ applied: string[] }>('db', 'migrate');
    const [, ...since] = applied;
    const migrations = since.toReversed();
    const stdout = migrations.map((name) => `Reverted ${name}\n`).join('');
    expect(await revert('--yes')).toEqual({ code: 0, stdout, stderr: '' });
    expect(await cli.json('db', 'migrate')).toEqual({ applied: since });
    for (const [option, dry_run] of [
      ['--dry-run', true],
      ['--yes', false],
    ] as const)
      expect(await cli.json('db', 'revert', '1.0.0', option)).toEqual({ dry_run, migrations });
    expect(await revert('--yes')).toEqual({ code: 0, stdout: none, stderr: '' });
    const rejected = await cli.run('db', 'revert', '0.9.0');
    expect(rejected).toMatchObject({ code: 2, stdout: '' });
    expect(rejected.stderr).toContain('Allowed choices are 1.0.0, 1.1.0, 1.2.0.');
  });

  it('reverts nothing while a user has no phone number, and says what to do', async () => {
    await cli.json('db', 'migrate');
    const { id } = await cli.json<{ id: string }>(
      ...['user', 'add', '--phone', '+14155550171', '--name', 'Ana Lee'],
    );
    await cli.json('user', 'change-phone', id, '--none', '--yes');
    expect(await cli.run('db', 'revert', '1.0.0', '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Version 1.0 needs a phone number for every user. Give a number to each user without one ("user change-phone"), or erase the user, and try again.\n',
    });
    await cli.json('user', 'erase', id, '--yes');
  });
});

/** Breaks the timers of the background writers, which start after the database connection. */
const BREAK_TIMERS = `
  const original = globalThis.setInterval;
  globalThis.setInterval = (...args) => {
    if (new Error().stack.includes('onModuleInit')) throw new Error('It does not start.');
    return original(...args);
  };`;

onEachEngine('Commands: failed start of the application', (database) => {
  it('print the reason and exit with code 1', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(BREAK_TIMERS)}`;
    const { code, stdout, stderr } = await runCommandProcess(['db', 'migrate'], {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=${preload}`,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: It does not start\.$/m);
  });
});
