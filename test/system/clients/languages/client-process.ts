import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A line that a client prints. */
export interface Line {
  /** Where the user is sent. The client then reads the address of the redirect. */
  link?: string;
  /** The code of the error in the redirect. */
  denied?: string;
  /** Why the client does not accept the redirect. */
  rejected?: string;
  access?: string;
  refresh?: string;
  scope?: string | null;
  /** Of `GET /dev/v1/me`. */
  status?: number;
  /** False if the library cannot revoke: the client then waits for a line. */
  revoked?: boolean;
  /** The code of the error of the token endpoint. */
  error?: string;
  /** What many goroutines did at once: their requests to the token endpoint, their access tokens, and the responses by status. */
  tokenRequests?: number;
  accessTokens?: number;
  statuses?: Record<string, number>;
}

/** A client in its own process, which prints JSON objects, one a line. */
export class ClientProcess {
  private readonly lines: AsyncIterator<string, undefined>;
  private readonly exited: Promise<unknown>;
  private errors = '';

  private constructor(private readonly child: ChildProcess) {
    if (!child.stdout || !child.stderr) throw new Error('The client has no output.');
    this.lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.exited = once(child, 'close');
  }

  static start(
    [program = '', ...parameters]: readonly string[],
    cwd: string,
    env: Record<string, string>,
  ): ClientProcess {
    const { PATH, HOME } = process.env;
    const options = { cwd, env: { PATH, HOME, ...env }, stdio: 'pipe' } as const;
    return new ClientProcess(spawn(program, parameters, options));
  }

  /** The next line, or undefined after the last one. @throws if the client failed */
  async next(): Promise<Line | undefined> {
    const { value } = await this.lines.next();
    if (value !== undefined) return JSON.parse(value) as Line;
    await this.exited;
    if (this.child.exitCode !== 0) throw new Error(`The client failed:\n${this.errors}`);
    return undefined;
  }

  type(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async stop(): Promise<void> {
    this.child.kill();
    await this.exited;
  }
}
