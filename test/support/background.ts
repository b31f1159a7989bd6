/** Repeats work until it is stopped or its test ends. */
export class RepeatedWork {
  private isStopped = false;
  private isTestOver = false;
  private readonly workers: Promise<void>[] = [];
  private readonly failures: unknown[] = [];

  constructor() {
    onTestFinished(async () => {
      this.isStopped = true;
      this.isTestOver = true;
      await Promise.all(this.workers);
    });
  }

  /** Whether the test has ended. A long round reads this to stop early. */
  get hasTestEnded(): boolean {
    return this.isTestOver;
  }

  /** Starts a worker, which repeats `work`. The worker ends at the first round that throws. */
  begin(work: (round: number) => Promise<void>): void {
    this.workers.push(this.repeat(work));
  }

  /** Stops the workers and waits for their last rounds. @throws the first error of a round */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.workers);
    if (this.failures.length > 0) throw this.failures[0];
  }

  private async repeat(work: (round: number) => Promise<void>): Promise<void> {
    try {
      for (let round = 0; !this.isStopped; round += 1) await work(round);
    } catch (error) {
      this.failures.push(error);
    }
  }
}

type CleanUp = () => Promise<unknown> | undefined;

/**
 * Runs all clean-up functions in order, even when one fails.
 * @throws the first error
 */
export async function cleanUp(...cleanUps: readonly CleanUp[]): Promise<void> {
  const failures: unknown[] = [];
  for (const run of cleanUps) {
    try {
      await run();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
