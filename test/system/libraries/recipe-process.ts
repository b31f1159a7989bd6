import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export const FOLDER = 'examples/libraries';

const TIMEOUT_MS = 30_000;

/** A recipe in its own process. */
export class RecipeProcess {
  private printed = '';
  private readonly exited: Promise<number | null>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly command: string,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.printed += chunk;
      });
    this.exited = once(child, 'close').then(([code]) => code as number | null);
  }

  /** Runs `command` in the folder of the recipes. */
  static start([command = '', ...parameters]: string[], env: Record<string, string>) {
    const child = spawn(command, parameters, {
      cwd: FOLDER,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: 'pipe',
    });
    return new RecipeProcess(child, [command, ...parameters].join(' '));
  }

  /** Waits until the output matches. Returns the match. */
  printedMatch(pattern: RegExp): Promise<string> {
    return this.waitFor(() => pattern.exec(this.printed)?.[0]);
  }

  /** Waits until a server listens on `url`. */
  async listening(url: string): Promise<void> {
    await this.waitFor(() =>
      fetch(url, { redirect: 'manual' }).then(
        () => true,
        () => undefined,
      ),
    );
  }

  /** Types a line, and waits for the end of the program. Returns all that it printed. */
  async answer(line: string): Promise<string> {
    this.child.stdin?.end(`${line}\n`);
    const timer = setTimeout(() => this.child.kill(), TIMEOUT_MS);
    const code = await this.exited;
    clearTimeout(timer);
    if (code !== 0) throw this.failure(`exited with ${code}`);
    return this.printed;
  }

  get output(): string {
    return this.printed;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill();
    await this.exited;
  }

  private async waitFor<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) throw this.failure(`exited with ${this.child.exitCode}`);
      if (Date.now() > deadline) throw this.failure('timed out');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private failure(what: string): Error {
    return new Error(`${this.command} ${what}:\n${this.printed}`);
  }
}
