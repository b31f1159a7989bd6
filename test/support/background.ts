/** Work that repeats until it is stopped or its test ends. */
export class RepeatedWork {
  private isOver = false;
  private isLeft = false;
  private readonly workers: Promise<void>[] = [];
  private readonly failures: unknown[] = [];

  constructor() {
    onTestFinished(async () => {
      this.isOver = true;
      this.isLeft = true;
      await Promise.all(this.workers);
    });
  }

  /** Whether the test has ended, so that a round may stop early. */
  get isAbandoned(): boolean {
    return this.isLeft;
  }

  /** Starts another worker. A round that throws is its last. */
  begin(turn: (round: number) => Promise<void>): void {
    this.workers.push(this.repeat(turn));
  }

  /** Stops the workers and waits for their last rounds. @throws the first error of a round */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.workers);
    if (this.failures.length > 0) throw this.failures[0];
  }

  private async repeat(turn: (round: number) => Promise<void>): Promise<void> {
    try {
      for (let round = 0; !this.isOver; round += 1) await turn(round);
    } catch (error) {
      this.failures.push(error);
    }
  }
}

type End = () => Promise<unknown> | undefined;

/**
 * Runs all clean-up functions in order, even when one fails.
 * @throws the first error
 */
export async function cleanUp(...ends: readonly End[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
