import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabaseFile, requireDatabaseFile, sharedFiles } from './sqlite-file.js';

const address = (file: string) => ({ engine: 'sqlite' as const, file });
const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8);

describe('File of a SQLite database', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-file-'));
    await chmod(folder, 0o755);
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is created with its folders, for this user only', async () => {
    const file = join(folder, 'a', 'b', 'service.sqlite');
    await createDatabaseFile(address(file));
    expect(await modeOf(file)).toBe('600');
    expect(await modeOf(join(folder, 'a'))).toBe('700');
    expect(await modeOf(join(folder, 'a', 'b'))).toBe('700');
    expect(await modeOf(folder)).toBe('755');
    await expect(requireDatabaseFile(address(file))).resolves.toBeUndefined();
  });

  it('loses the permissions of other users, with the write-ahead log, and keeps its content', async () => {
    const file = join(folder, 'service.sqlite');
    for (const path of [file, `${file}-wal`, `${file}-shm`]) {
      await writeFile(path, 'x');
      await chmod(path, 0o664);
    }
    expect(await sharedFiles(file)).toHaveLength(3);
    await createDatabaseFile(address(file));
    expect(await sharedFiles(file)).toEqual([]);
    expect(await modeOf(file)).toBe('600');
    expect((await stat(file)).size).toBe(1);
    expect(await modeOf(folder)).toBe('755');
  });

  it.each(['service.sqlite', 'no/such/folder/service.sqlite', 'link.sqlite'])(
    'is not created where one is required: %s',
    async (name) => {
      await symlink(join(folder, 'missing'), join(folder, 'link.sqlite'));
      await expect(requireDatabaseFile(address(join(folder, name)))).rejects.toThrow(
        `There is no database at ${join(folder, name)}: run "devplatform db migrate", or start the service.`,
      );
      expect(await readdir(folder)).toEqual(['link.sqlite']);
    },
  );

  it.each([requireDatabaseFile, createDatabaseFile])(
    'is neither a folder nor a device: %o',
    async (prepare) => {
      await mkdir(join(folder, 'data'));
      await expect(prepare(address(join(folder, 'data')))).rejects.toThrow(
        /data is not a file: set/,
      );
      await expect(prepare(address('/dev/null'))).rejects.toThrow('/dev/null is not a file: set');
    },
  );

  it('cannot be created below a file', async () => {
    await writeFile(join(folder, 'data'), '');
    await expect(createDatabaseFile(address(join(folder, 'data', 'x.sqlite')))).rejects.toThrow(
      /x\.sqlite cannot be opened \(E.+\): check DATABASE_URL/,
    );
  });

  it('does not exist for a database in memory', async () => {
    await createDatabaseFile(address(':memory:'));
    await expect(requireDatabaseFile(address(':memory:'))).resolves.toBeUndefined();
  });
});
