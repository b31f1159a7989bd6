import { addMilliseconds, DAY } from '../../src/platform/clock.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';

onOneEngine('Command "usage rollup"', (database) => {
  const { app, cli } = useCommands(database);

  it('prints the counted days; a later run counts the newest day again, or all days since --from', async () => {
    expect((await cli.run('usage', 'rollup')).stdout).toBe('No calls to aggregate.\n');
    const now = new Date();
    const moments = [
      addMilliseconds(now, -5 * DAY),
      addMilliseconds(now, -DAY),
      addMilliseconds(now, -DAY),
    ];
    await recordCalls(app().dataSource, moments);
    const [old = '', day = ''] = moments.map((moment) => moment.toISOString().slice(0, 10));
    expect(await cli.json('usage', 'rollup')).toEqual([
      { day: old, calls: 1 },
      { day, calls: 2 },
    ]);
    expect(await cli.json('usage', 'rollup')).toEqual([{ day, calls: 2 }]);
    const { code, stdout } = await cli.run('usage', 'rollup', '--from', old);
    expect(code).toBe(0);
    expect(stdout).toBe(`DAY         CALLS\n${old}  1\n${day}  2\n`);
  });
});
