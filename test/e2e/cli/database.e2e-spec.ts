import { pathToFileURL } from 'node:url';
import { CommandLine, runProcess } from '../../support/command-line.js';
import { onEachEngine } from '../../support/engines.js';

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

/** Breaks a part of the built application that starts after the database has been connected to. */
const BREAKAGE = `
  import { UnroutedRequests } from '${pathToFileURL('dist/src/http/unrouted-requests.js').href}';
  UnroutedRequests.prototype.onModuleInit = () => { throw new Error('It does not start.'); };`;

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
