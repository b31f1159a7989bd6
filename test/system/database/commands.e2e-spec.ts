import type { DataSource } from 'typeorm';
import { Migrator } from '../../../src/database/migrator.js';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { connect, onEachEngine, onEachServer } from '../../support/database.js';

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

onEachEngine('The command line on an empty database', (database) => {
  const cli = new CommandLine(database);

  it(
    'asks for "db migrate" first, tells what is pending, and migrates once',
    { timeout: 90_000 },
    async () => {
      const refused = await cli.run('app', 'list');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toBe(
        'The database is not up to date. Run "npm run -s cli -- db migrate" first.\n',
      );

      const before = await cli.json<Status>('db', 'status');
      expect(before.current).toBe(false);
      expect(before.migrations.length).toBeGreaterThan(0);
      expect((await cli.run('db', 'status')).stdout).toMatch(/^pending {2}\S+/);

      const names = before.migrations.map(({ name }) => name);
      expect(await cli.json('db', 'migrate')).toEqual({ applied: names });
      expect(await cli.json('db', 'migrate')).toEqual({ applied: [] });
      expect(await cli.run('db', 'migrate')).toEqual({
        code: 0,
        stdout: 'The database is up to date.\n',
        stderr: '',
      });

      const after = await cli.json<Status>('db', 'status');
      expect(after).toEqual({
        current: true,
        migrations: names.map((name) => ({ name, applied: true })),
      });
      expect(await cli.json('app', 'list')).toEqual([]);
    },
  );
});

onEachEngine('The command "db check"', (database) => {
  const cli = new CommandLine(database);
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(database.url);
  });
  afterAll(() => dataSource.destroy());

  /** What it prints where the database differs, by both forms. */
  async function difference(): Promise<{ told: Check; text: string; sentence: string }> {
    const text = await cli.run('db', 'check');
    const told = await cli.run('db', 'check', '--json');
    expect([text.code, told.code]).toEqual([1, 1]);
    expect(told.stderr).toBe(text.stderr);
    const check = JSON.parse(told.stdout) as Check;
    expect(check.current).toBe(false);
    return { told: check, text: text.stdout, sentence: text.stderr };
  }

  it('compares the database with this version, and changes nothing', async () => {
    const empty = await difference();
    expect(empty.told.pending.length).toBeGreaterThan(1);
    expect(empty.text).toMatch(/^pending {2}CreatePlatform\d+\n/);
    expect(empty.sentence).toContain('Run "npm run -s cli -- db migrate"');

    await new Migrator(dataSource).migrate();
    const none = { pending: [], unknown: [], statements: [] };
    expect(await cli.json('db', 'check')).toEqual({ current: true, ...none });
    expect(await cli.run('db', 'check')).toEqual({
      code: 0,
      stdout: 'The database is what this version expects.\n',
      stderr: '',
    });

    await dataSource.query(
      "INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')",
    );
    await dataSource.query('ALTER TABLE posts ADD COLUMN later integer');
    const newer = await difference();
    expect(newer.told).toEqual({ current: false, ...none, unknown: ['Later1999999999999'] });
    expect(newer.sentence).toContain('run "db revert" with the command line of the newer version');
    await dataSource.query('ALTER TABLE posts DROP COLUMN later');
    await dataSource.query("DELETE FROM migrations WHERE name = 'Later1999999999999'");

    await dataSource.query(
      `DROP INDEX ix_posts_deleted_at${database.engine.kind === 'sqlite' ? '' : ' ON posts'}`,
    );
    const changed = await difference();
    expect(changed.told.statements).toEqual([
      expect.stringMatching(/^CREATE INDEX .ix_posts_deleted_at. ON .posts. /),
    ]);
    expect(changed.sentence).toContain('Somebody changed the schema by hand.');
    await dataSource.query('CREATE INDEX ix_posts_deleted_at ON posts (deleted_at)');
    expect(await cli.json('db', 'check')).toMatchObject({ current: true });
  });
});

onEachServer('The command "db migrate" that has to wait', (database) => {
  it('prints its result alone', { timeout: 60_000 }, async () => {
    const dataSource = await connect(database.url);
    await new Migrator(dataSource).migrate();
    await new Migrator(dataSource).revert('1.0.0', async () => undefined);
    const reader = dataSource.createQueryRunner();
    await reader.startTransaction();
    await reader.query('SELECT * FROM posts');
    const env = { DATABASE_URL: database.url, DB_TIMEOUT_MS: '1000' };
    const migrating = runCommandProcess(['db', 'migrate', '--json'], env);
    const waiting = `SELECT id FROM information_schema.processlist
      WHERE db = DATABASE() AND state LIKE 'Waiting for table metadata lock%'`;
    const isWaiting = async (): Promise<number> =>
      (await dataSource.query<object[]>(waiting)).length;
    await expect.poll(isWaiting, { timeout: 15_000 }).toBe(1);
    await expect.poll(isWaiting, { timeout: 15_000 }).toBe(0);
    await reader.commitTransaction();
    await reader.release();
    const { code, stdout, stderr } = await migrating;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ applied: [expect.stringMatching(/^Operate/)] });
    await dataSource.destroy();
  });
});

onEachEngine('The command "db revert"', (database) => {
  const cli = new CommandLine(database);

  it('goes back to the schema of a release, once, and only to a release', async () => {
    expect(await cli.json('db', 'revert', '1.0.0')).toEqual({ undone: [] });
    const { applied } = await cli.json<{ applied: string[] }>('db', 'migrate');
    const [, ...since] = applied;
    expect(await cli.run('db', 'revert', '1.0.0')).toEqual({
      code: 0,
      stdout: since
        .toReversed()
        .map((name) => `Undid ${name}\n`)
        .join(''),
      stderr: '',
    });
    expect(await cli.json('db', 'migrate')).toEqual({ applied: since });
    expect(await cli.json('db', 'revert', '1.0.0')).toEqual({ undone: since.toReversed() });
    expect(await cli.run('db', 'revert', '1.0.0')).toEqual({
      code: 0,
      stdout: 'The schema has nothing that came after 1.0.0.\n',
      stderr: '',
    });
    const refused = await cli.run('db', 'revert', '0.9.0');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('Allowed choices are 1.0.0.');
  });

  it('leaves a schema that a newer version made', async () => {
    await cli.json('db', 'migrate');
    const dataSource = await connect(database.url);
    const later = 'Later1999999999999';
    await dataSource.query(
      `INSERT INTO migrations (timestamp, name) VALUES (1999999999999, '${later}')`,
    );
    await dataSource.destroy();
    expect(await cli.run('db', 'revert', '1.0.0')).toEqual({
      code: 1,
      stdout: '',
      stderr: `A newer version migrated this database: ${later}. Run "db revert" of that version.\n`,
    });
  });
});

/** Breaks what starts after the database has been connected to: the timers of those who write beside the requests. */
const BREAKAGE = `
  const start = globalThis.setInterval;
  globalThis.setInterval = (...args) => {
    if (new Error().stack.includes('onModuleInit')) throw new Error('It does not start.');
    return start(...args);
  };`;

onEachEngine('A command whose application does not start', (database) => {
  it('says why and ends with exit code 1, connected as it is', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(BREAKAGE)}`;
    const { code, stdout, stderr } = await runCommandProcess(['db', 'status'], {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=${preload}`,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: It does not start\.$/m);
  });
});
