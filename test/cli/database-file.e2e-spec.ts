import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLine, runDoctor } from '../support/command-line.js';

describe('Commands without a database file', () => {
  let folder: string;
  let file: string;
  let cli: CommandLine;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-none-'));
    file = join(folder, 'data', 'service.sqlite');
    cli = new CommandLine({ url: `sqlite:${file}` });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it.each([
    ['app list'],
    ['app list --json'],
    ['user erase usr_01h455vb4pex5vsknk084sn02q --yes'],
    ['db status'],
    ['db check --json'],
    ['db revert 1.0.0 --yes'],
    ['prune --dry-run'],
    ['demo token'],
  ])('"%s" fails and creates nothing', async (line) => {
    expect(await cli.run(...line.split(' '))).toEqual({
      code: 1,
      stdout: '',
      stderr: `There is no database at ${file}: run "devplatform db migrate", or start the service.\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('"doctor" reports that it is missing and creates nothing', async () => {
    expect((await runDoctor(cli)).at(-1)).toEqual({
      check: 'database',
      status: 'failed',
      summary: `There is no database at ${file}.`,
      remedy: 'Run "devplatform db migrate", or start the service.',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('"db migrate" creates it for this user only; "doctor" warns if others may access it', async () => {
    expect((await cli.run('db', 'migrate')).code).toBe(0);
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect([await modeOf(file), await modeOf(join(folder, 'data'))]).toEqual(['600', '700']);
    const warnings = async () =>
      (await runDoctor(cli)).filter(({ summary }) => summary.startsWith('Other users'));
    expect(await warnings()).toEqual([]);

    await chmod(file, 0o640);
    expect(await warnings()).toMatchObject([
      { check: 'storage', status: 'warning', remedy: expect.stringMatching(/^chmod go= /) },
    ]);
    await cli.run('db', 'migrate');
    expect(await warnings()).toEqual([]);
  });
});
