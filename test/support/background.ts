/** Work that is done over and over until it is stopped, or until the test that began it has ended in whatever way. */
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

  /** Whether its test has ended, so that what was begun need not be done. */
  get isAbandoned(): boolean {
    return this.isLeft;
  }

  /** Beside what was begun before. A turn that throws is the last. */
  begin(turn: (round: number) => Promise<void>): void {
    this.workers.push(this.repeat(turn));
  }

  /** Ends when every turn that was begun is done. @throws what a turn threw */
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
 * Ends what a test started, in this order, the next one also where one fails.
 * @throws what the first that failed threw
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
