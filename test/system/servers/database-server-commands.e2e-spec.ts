import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropServer } from '../../support/server-by-command.js';
import { MysqlGroup } from '../../support/mysql-group.js';

const PORT = 4000;
const COMPLETE_GROUP = ['3311 ONLINE PRIMARY', '3312 ONLINE SECONDARY', '3313 ONLINE SECONDARY'];

/** The start of every command script: records the call. */
const RECORD_CALL = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> calls
`;

/**
 * A script for the variable `TEST_GROUP_COMMAND`, which starts and repairs a group of three MySQL servers. A RECOVERING member is ONLINE in
 * the second response of `status`.
 */
const GROUP_COMMAND = `${RECORD_CALL}case $1 in
  start) echo '${COMPLETE_GROUP.join('\n')}' | tee members ;;
  status) cat members && sed -i s/RECOVERING/ONLINE/ members ;;
  rejoin) sed -i "s/^$2 .*/$2 ONLINE SECONDARY/" members ;;
esac
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-command-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function command(script: string): Promise<string> {
  const path = join(folder, 'command');
  await writeFile(path, script, { mode: 0o755 });
  return path;
}

async function calls(): Promise<string[]> {
  return (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
}

describe('Server group of TEST_GROUP_COMMAND', () => {
  it.for([
    { state: 'that does not run', members: undefined, expected: ['start'] },
    { state: 'that runs', members: COMPLETE_GROUP, expected: [] },
    {
      state: 'without one member',
      members: COMPLETE_GROUP.with(1, '3312 UNREACHABLE SECONDARY'),
      expected: ['rejoin 3312'],
    },
    {
      state: 'without two members',
      members: COMPLETE_GROUP.with(1, '3312 ERROR SECONDARY').with(2, '3313 OFFLINE SECONDARY'),
      expected: ['rejoin 3312', 'rejoin 3313'],
    },
    {
      state: 'with a recovering member',
      members: COMPLETE_GROUP.with(2, '3313 RECOVERING SECONDARY'),
      expected: [],
    },
  ])('completes a group $state with the calls $expected', async ({ members, expected }) => {
    const path = await command(GROUP_COMMAND);
    if (members !== undefined) await writeFile(join(folder, 'members'), `${members.join('\n')}\n`);
    const group = await MysqlGroup.start(path);
    await group.release();
    expect((await calls()).filter((call) => call !== 'status')).toEqual(expected);
    // The primary is last.
    expect(await group.url('service')).toMatch(/^mysql:.*:3312,.*:3313,.*:3311\/service$/);
  });
});

describe('Server of TEST_MYSQL_COMMAND', () => {
  it('is dropped', async () => {
    await dropServer(await command(RECORD_CALL), PORT);
    expect(await calls()).toEqual([`drop ${PORT}`]);
  });

  it('is stopped if the command does not support drop', async () => {
    await dropServer(await command(`${RECORD_CALL}[ "$1" != drop ]`), PORT);
    expect(await calls()).toEqual([`drop ${PORT}`, `stop ${PORT}`]);
  });

  it('causes an error if the command supports neither', async () => {
    await expect(dropServer(await command(`${RECORD_CALL}exit 2`), PORT)).rejects.toThrow(
      'Command failed',
    );
    await expect(dropServer(join(folder, 'none'), PORT)).rejects.toThrow('ENOENT');
  });
});
