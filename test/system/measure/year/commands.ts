import { execFile } from 'node:child_process';
import { shiftedClock } from '../../../support/shifted-clock.js';
import { runSql } from '../../../support/sql.js';

/** Retention shorter than the default, so that a year has rows to delete: `DELETED_POST_DAYS` is the default. */
export const RETENTION = { CALL_LOG_DAYS: 270, AUDIT_LOG_DAYS: 180, DELETED_POST_DAYS: 30 };
export const RETENTION_ENV = Object.fromEntries(
  Object.entries(RETENTION).map(([name, days]) => [name, String(days)]),
);

const MAX_OUTPUT_BYTES = 2 ** 30;

export interface Outcome {
  code: number;
  seconds: number;
  stdout: string;
  stderr: string;
}

/** Runs the commands of operators, each in its own process, at a time of the year. */
export class YearCommands {
  /**
   * @param serverUrl of an administrator
   * @param url of an ordinary user, for whose connections the server runs `init_connect`
   */
  constructor(
    private readonly serverUrl: string,
    private readonly url: string,
  ) {}

  /** Sets the clock of the database for new connections. Commands have the same clock. @returns the offset of the clocks */
  async setClock(time: Date): Promise<number> {
    const offsetMs = time.getTime() - Date.now();
    await runSql(
      this.serverUrl,
      `SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP(NOW(6)) + ${offsetMs / 1000}'`,
    );
    return offsetMs;
  }

  async run(
    time: Date,
    args: readonly string[],
    { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
  ): Promise<Outcome> {
    const offsetMs = await this.setClock(time);
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [`--import=${shiftedClock(offsetMs)}`, 'dist/src/bundle/cli.js', ...args, '--yes'],
        {
          env: {
            PATH: process.env.PATH,
            NODE_ENV: 'test',
            DATABASE_URL: this.url,
            ...RETENTION_ENV,
            ...env,
          },
          maxBuffer: MAX_OUTPUT_BYTES,
        },
        (_error, stdout, stderr) => {
          const seconds = (performance.now() - startedAt) / 1000;
          resolve({ code: child.exitCode ?? -1, seconds, stdout, stderr });
        },
      );
      child.stdin?.end(input);
    });
  }

  /** Runs a command with `--json`. @throws if it fails */
  async json<T>(
    time: Date,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ result: T; seconds: number }> {
    const { code, seconds, stdout, stderr } = await this.run(time, [...args, '--json'], { env });
    if (code !== 0) throw new Error(`"${args.join(' ')}" exited with ${code}: ${stderr}${stdout}`);
    return { result: JSON.parse(stdout) as T, seconds };
  }
}
