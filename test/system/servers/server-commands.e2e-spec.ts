import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discard } from '../../support/commanded-server.js';
import { MysqlGroup } from '../../support/mysql-group.js';

const PORT = 4000;
const WHOLE = ['3311 ONLINE PRIMARY', '3312 ONLINE SECONDARY', '3313 ONLINE SECONDARY'];

/** What every command here does first. */
const HEAD = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> calls
`;

/** A member that recovers is back at the next look. */
const GROUP = `${HEAD}case $1 in
  start) echo '${WHOLE.join('\n')}' | tee members ;;
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

describe('A group that a command starts', () => {
  it.for([
    { is: 'does not run', members: undefined, told: ['start'] },
    { is: 'runs', members: WHOLE, told: [] },
    {
      is: 'has lost a member',
      members: WHOLE.with(1, '3312 UNREACHABLE SECONDARY'),
      told: ['rejoin 3312'],
    },
    {
      is: 'has lost two members',
      members: WHOLE.with(1, '3312 ERROR SECONDARY').with(2, '3313 OFFLINE SECONDARY'),
      told: ['rejoin 3312', 'rejoin 3313'],
    },
    {
      is: 'is getting a member back',
      members: WHOLE.with(2, '3313 RECOVERING SECONDARY'),
      told: [],
    },
  ])('is whole afterwards, and started only where none runs: it $is', async ({ members, told }) => {
    const path = await command(GROUP);
    if (members !== undefined) await writeFile(join(folder, 'members'), `${members.join('\n')}\n`);
    const group = await MysqlGroup.start(path);
    expect((await calls()).filter((call) => call !== 'status')).toEqual(told);
    expect(await group.url('service')).toMatch(/^mysql:.*:3312,.*:3313,.*:3311\/service$/);
  });
});

describe('A server that a command started', () => {
  it('is dropped', async () => {
    await discard(await command(HEAD), PORT);
    expect(await calls()).toEqual([`drop ${PORT}`]);
  });

  it('is stopped where the command does not understand drop', async () => {
    await discard(await command(`${HEAD}[ "$1" != drop ]`), PORT);
    expect(await calls()).toEqual([`drop ${PORT}`, `stop ${PORT}`]);
  });

  it('is not said to be gone where the command does neither', async () => {
    await expect(discard(await command(`${HEAD}exit 2`), PORT)).rejects.toThrow('Command failed');
    await expect(discard(join(folder, 'none'), PORT)).rejects.toThrow('ENOENT');
  });
});
