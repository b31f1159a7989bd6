import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { serverOn } from './commanded-server.js';
import { runSql } from './sql.js';

const run = promisify(execFile);
const MEMBERS = 3;
/** Of members that are in the group, or on their way into it. */
const PRESENT = new Set(['ONLINE', 'RECOVERING']);
const CHANGES = `SELECT data FROM performance_schema.error_log WHERE data LIKE '%Group membership changed to%'`;

/** A server of the group, as the group sees it. */
interface GroupMember {
  port: number;
  state: string;
  role: string;
}

/** Servers on loopback that replicate to each other, of which one takes writes. They are started by a command that is given. */
export class MysqlGroup {
  private constructor(
    private readonly command: string,
    private readonly ports: readonly number[],
  ) {}

  /**
   * The group that runs, with those that are missing back in it, or one that is started.
   * @param command understands `start`, `status` and `rejoin PORT`; the first two print a line with port, state and role of each
   */
  static async start(command: string): Promise<MysqlGroup> {
    const running = await membersAs(command, 'status').catch(() => []);
    const members = running.length > 0 ? running : await started(command);
    const group = new MysqlGroup(command, await portsOf(members));
    const there = members.filter(({ state }) => PRESENT.has(state)).map(({ port }) => port);
    for (const port of group.ports)
      if (!there.includes(port)) await run(command, ['rejoin', String(port)]);
    await group.untilWhole();
    return group;
  }

  /** A `DATABASE_URL` that names all of them, the primary last. */
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

  /** Looks for the server that takes writes. Answers its port, and what kills it at once. */
  async primaryToKill(): Promise<{ port: number; kill: () => void }> {
    const port = await this.primary();
    const pid = serverOn(port);
    return { port, kill: () => process.kill(pid, 'SIGKILL') };
  }

  /** Starts a server that was killed, and waits until the group has it again. */
  async rejoin(port: number): Promise<void> {
    await run(this.command, ['rejoin', String(port)]);
    await this.untilWhole();
  }

  private async untilWhole(): Promise<void> {
    const states = this.ports.map(() => 'ONLINE');
    await vi.waitFor(
      async () => expect((await this.members()).map(({ state }) => state)).toEqual(states),
      { timeout: 60_000, interval: 500 },
    );
  }

  private members(): Promise<GroupMember[]> {
    return membersAs(this.command, 'status');
  }

  private async primary(): Promise<number> {
    const primary = (await this.members()).find(({ role }) => role === 'PRIMARY');
    if (primary === undefined) throw new Error('The group has no primary.');
    return primary.port;
  }
}

/**
 * Starts the group. A server is refused as a member while a connection of this machine happens to have the port on which it
 * would talk to the others: who is in the group by then is killed, and the group is started once more.
 */
async function started(command: string): Promise<GroupMember[]> {
  try {
    return await membersAs(command, 'start');
  } catch {
    for (const { port } of await membersAs(command, 'status').catch(() => [])) {
      const pid = serverOn(port);
      process.kill(pid, 'SIGKILL');
      await vi.waitFor(() => expect(holdsFiles(pid)).toBe(false), { timeout: 10_000 });
    }
    return membersAs(command, 'start');
  }
}

/** The ports of all servers of the group, also of those that it has given up, which `status` does not name. */
async function portsOf(members: readonly GroupMember[]): Promise<number[]> {
  const ports = new Set(members.map(({ port }) => port));
  const online = members.find(({ state }) => state === 'ONLINE');
  if (ports.size < MEMBERS && online !== undefined)
    for (const { data } of await runSql(`mysql://root@127.0.0.1:${online.port}`, CHANGES))
      for (const [, port] of String(data).matchAll(/:(\d+)(?=,| on view)/g))
        ports.add(Number(port));
  expect([...ports], 'the ports of the group').toHaveLength(MEMBERS);
  return [...ports];
}

/** Whether a process still has what it opened. One that was killed has for a moment, and its successor would not start. */
function holdsFiles(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function membersAs(command: string, word: 'start' | 'status'): Promise<GroupMember[]> {
  const { stdout } = await run(command, [word]);
  return [...stdout.matchAll(/^(\d+)\s+([A-Z]+)\s+([A-Z]+)\s*$/gm)].map(
    ([, port, state = '', role = '']) => ({ port: Number(port), state, role }),
  );
}
