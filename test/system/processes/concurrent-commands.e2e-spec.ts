import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { CommandLine, runCommandProcess, SHORT_REQUESTS } from '../../support/command-line.js';
import { dumpTables, onOneEngine, tablesContaining } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { twoMembers } from '../../support/fixtures.js';
import { useTestApp } from '../../support/test-app.js';

onOneEngine('Commands that run twice at the same time, in two processes', (database) => {
  const folder = useFolder();
  const app = useTestApp(database);
  const cli = new CommandLine(database, runCommandProcess, SHORT_REQUESTS);

  const runTwice = <T>(...args: string[]): Promise<[T, T]> =>
    Promise.all([cli.json<T>(...args), cli.json<T>(...args)]);

  it('"user erase" erases a user once and decrements each counter once', async () => {
    const { ana, bensPost } = await twoMembers(app(), '+14155557003');
    const runs = await runTwice<{ tables: Record<string, number> }>(
      ...['user', 'erase', ana.id, '--yes'],
    );
    const { dataSource } = app();
    expect(await dataSource.manager.findOneBy(Post, { id: bensPost })).toMatchObject({
      commentCount: 1,
      likeCount: 1,
    });
    expect(tablesContaining(await dumpTables(dataSource), ana.id)).toEqual(['audit_events']);
    const sum = (table: string): number =>
      runs.reduce((total, { tables }) => total + (tables[table] ?? 0), 0);
    const comments = sum('comments') + sum('comments_of_others');
    expect({ posts: sum('posts'), comments, users: sum('users') }).toEqual({
      posts: 2,
      comments: 4,
      users: 1,
    });
  }, 60_000);

  it('"user import" adds each user once', async () => {
    const rows = Array.from({ length: 1500 }, (_, row) => `+1415777${1000 + row},Person ${row}`);
    const path = join(folder, 'users.csv');
    await writeFile(path, ['phone,name', ...rows, ''].join('\n'));
    const runs = await runTwice<{ lines: number; added: number }>('user', 'import', path);
    expect(runs.reduce((sum, { added }) => sum + added, 0)).toBe(1500);
    expect(runs.map(({ lines }) => lines)).toEqual([1500, 1500]);
  }, 60_000);
});
