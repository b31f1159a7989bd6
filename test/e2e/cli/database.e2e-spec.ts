import type { DataSource } from 'typeorm';
import { Migrator } from '../../../src/database/migrator.js';
import { CommandLine, runProcess } from '../../support/command-line.js';
import { connect } from '../../support/connect.js';
import { onEachEngine } from '../../support/engines.js';

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
    const newer = await difference();
    expect(newer.told).toEqual({ current: false, ...none, unknown: ['Later1999999999999'] });
    expect(newer.sentence).toContain('A newer version migrated this database.');
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
    const { code, stdout, stderr } = await runProcess(['db', 'status'], {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=${preload}`,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: It does not start\.$/m);
  });
});
