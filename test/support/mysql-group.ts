import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serverPid } from './server-by-command.js';
import { runSql } from './sql.js';

const run = promisify(execFile);
const MEMBERS = 3;
/** The states of members that are in the group or joining it. */
const PRESENT_STATES = new Set(['ONLINE', 'RECOVERING']);
const MEMBERSHIP_CHANGES = `SELECT data FROM performance_schema.error_log WHERE data LIKE '%Group membership changed to%'`;

/** A folder that exists while a test file uses the group: test files run in parallel, and one of them kills members. */
const LOCK = join(tmpdir(), 'platform-mysql-group.lock');
/** The longest time that a test file needs the group, and the timeout of hooks that wait for it. */
export const GROUP_TIMEOUT_MS = 900_000;

/** Takes the lock over from a run that ended without releasing it. */
async function lockGroup(): Promise<void> {
  for (;;) {
    try {
      await mkdir(LOCK);
      return;
    } catch {
      const locked = await stat(LOCK).catch(() => undefined);
      if (locked && Date.now() - locked.mtimeMs > GROUP_TIMEOUT_MS)
        await rm(LOCK, { recursive: true, force: true });
      else await sleep(1000);
    }
  }
}

async function unlockGroup(): Promise<void> {
  await rm(LOCK, { recursive: true, force: true });
}

/** A member as the group reports it. */
interface GroupMember {
  port: number;
  state: string;
  role: string;
}

/** A MySQL group on loopback with a single primary, started by `TEST_GROUP_COMMAND`. */
export class MysqlGroup {
  private constructor(
    private readonly command: string,
    private readonly ports: readonly number[],
  ) {}

  /**
   * Uses the running group and rejoins its missing members, or starts a group.
   * @param command supports `start`, `status` and `rejoin PORT`; the first two print port, state and role of each member
   */
  static async start(command: string): Promise<MysqlGroup> {
    await lockGroup();
    try {
      return await MysqlGroup.startOrRepair(command);
    } catch (error) {
      await unlockGroup();
      throw error;
    }
  }

  private static async startOrRepair(command: string): Promise<MysqlGroup> {
    const running = await listMembers(command, 'status').catch(() => []);
    const members = running.length > 0 ? running : await startGroup(command);
    const group = new MysqlGroup(command, await portsOf(members));
    const presentPorts = members
      .filter(({ state }) => PRESENT_STATES.has(state))
      .map(({ port }) => port);
    for (const port of group.ports) if (!presentPorts.includes(port)) await rejoin(command, port);
    await group.waitUntilOnline();
    return group;
  }

  /** Lets the next test file use the group. */
  async release(): Promise<void> {
    await unlockGroup();
  }

  /** A `DATABASE_URL` with all members, the primary last. */
  async url(database: string): Promise<string> {
    const primary = await this.primary();
    const ports = [...this.ports.filter((port) => port !== primary), primary];
    return `mysql://root@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database}`;
  }

  async createDatabase(name: string): Promise<void> {
    await runSql(`mysql://root@127.0.0.1:${await this.primary()}`, `CREATE DATABASE ${name}`);
  }

  async dropDatabase(name: string): Promise<void> {
    await runSql(`mysql://root@127.0.0.1:${await this.primary()}`, `DROP DATABASE ${name}`);
  }

  /** Finds the primary. Returns its port and a function that kills it. */
  async primaryToKill(): Promise<{ port: number; kill: () => void }> {
    const port = await this.primary();
    const pid = serverPid(port);
    return { port, kill: () => process.kill(pid, 'SIGKILL') };
  }

  /** Starts a killed member and waits until it has rejoined. */
  async rejoin(port: number): Promise<void> {
    await rejoin(this.command, port);
    await this.waitUntilOnline();
  }

  private async waitUntilOnline(): Promise<void> {
    const states = this.ports.map(() => 'ONLINE');
    await vi.waitFor(
      async () => expect((await this.members()).map(({ state }) => state)).toEqual(states),
      { timeout: 60_000, interval: 500 },
    );
  }

  private members(): Promise<GroupMember[]> {
    return listMembers(this.command, 'status');
  }

  private async primary(): Promise<number> {
    const primary = (await this.members()).find(({ role }) => role === 'PRIMARY');
    if (primary === undefined) throw new Error('The group has no primary.');
    return primary.port;
  }
}

/**
 * Starts the group. A member cannot join while an outgoing connection of any process uses the group port of that member. So if the
 * start fails, kills the members that have started, and starts the group once more.
 */
async function startGroup(command: string): Promise<GroupMember[]> {
  try {
    return await listMembers(command, 'start');
  } catch {
    for (const { port } of await listMembers(command, 'status').catch(() => [])) {
      const pid = serverPid(port);
      process.kill(pid, 'SIGKILL');
      await vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false), { timeout: 10_000 });
    }
    return listMembers(command, 'start');
  }
}

/**
 * Lets a member rejoin that was killed or expelled. On an expelled member, which a busy machine can cause, group replication is still
 * running and must stop first.
 */
async function rejoin(command: string, port: number): Promise<void> {
  await runSql(`mysql://root@127.0.0.1:${port}`, 'STOP GROUP_REPLICATION').catch(() => undefined);
  await run(command, ['rejoin', String(port)]);
}

/** The ports of all members, including expelled ones, which `status` does not list. */
async function portsOf(members: readonly GroupMember[]): Promise<number[]> {
  const ports = new Set(members.map(({ port }) => port));
  const online = members.find(({ state }) => state === 'ONLINE');
  if (ports.size < MEMBERS && online !== undefined)
    for (const { data } of await runSql(
      `mysql://root@127.0.0.1:${online.port}`,
      MEMBERSHIP_CHANGES,
    ))
      for (const [, port] of String(data).matchAll(/:(\d+)(?=,| on view)/g))
        ports.add(Number(port));
  expect([...ports], 'the ports of the group').toHaveLength(MEMBERS);
  return [...ports];
}

/** Whether the process is running or still ending. A killed process ends only after a moment. Its successor cannot start before. */
function isProcessAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function listMembers(
  command: string,
  subcommand: 'start' | 'status',
): Promise<GroupMember[]> {
  const { stdout } = await run(command, [subcommand]);
  return [...stdout.matchAll(/^(\d+)\s+([A-Z]+)\s+([A-Z]+)\s*$/gm)].map(
    ([, port, state = '', role = '']) => ({ port: Number(port), state, role }),
  );
}
