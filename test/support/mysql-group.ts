import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processOnPort } from './process-on-port.js';
import { runSql } from './sql.js';

const run = promisify(execFile);
const MEMBERS = 3;

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

  /** @param command understands `start`, `status` and `rejoin PORT`; the first two print a line with port, state and role of each */
  static async start(command: string): Promise<MysqlGroup> {
    const running = await membersAs(command, 'status').catch(() => []);
    const members = running.length >= MEMBERS ? running : await membersAs(command, 'start');
    expect(members).toHaveLength(MEMBERS);
    return new MysqlGroup(
      command,
      members.map(({ port }) => port),
    );
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

  /** Kills the server that takes writes. Answers its port. */
  async killPrimary(): Promise<number> {
    const port = await this.primary();
    const pid = processOnPort(port);
    if (pid === undefined) throw new Error(`No mysqld with --port=${port} runs on this machine.`);
    process.kill(pid, 'SIGKILL');
    return port;
  }

  /** Starts a server that was killed, and waits until the group has it again. */
  async rejoin(port: number): Promise<void> {
    await run(this.command, ['rejoin', String(port)]);
    await expect
      .poll(async () => (await this.members()).filter(({ state }) => state === 'ONLINE').length, {
        timeout: 60_000,
        interval: 500,
      })
      .toBe(this.ports.length);
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

async function membersAs(command: string, word: 'start' | 'status'): Promise<GroupMember[]> {
  const { stdout } = await run(command, [word]);
  return [...stdout.matchAll(/^(\d+)\s+([A-Z]+)\s+([A-Z]+)\s*$/gm)].map(
    ([, port, state = '', role = '']) => ({ port: Number(port), state, role }),
  );
}
