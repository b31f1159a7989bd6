import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, type RawAnswer } from './caller.js';

export interface Manners {
  /** Milliseconds from one request of a caller to its next; 0 is at once. */
  everyMs: number;
  /** Whether a caller that is told when to come back does as it is told. */
  isPatient: boolean;
}

/** Many connections, on each of which a caller sends one request after the other. */
export class Crowd {
  private constructor(private readonly callers: readonly Caller[]) {}

  static async gather(baseUrl: string, size: number): Promise<Crowd> {
    return new Crowd(
      await Promise.all(Array.from({ length: size }, () => Caller.connect(baseUrl))),
    );
  }

  /**
   * What they are answered for so long. They begin at the same moment, unless they come at intervals.
   * @param request of the caller with this number, for its turn with this one
   * @throws when one is not answered
   */
  async call(
    forMs: number,
    request: (caller: number, turn: number) => string,
    { everyMs, isPatient }: Manners,
  ): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = [];
    const until = performance.now() + forMs;
    const one = async (caller: Caller, number: number): Promise<void> => {
      await sleep(Math.random() * everyMs);
      for (let turn = 0; performance.now() < until; turn += 1) {
        const answer = await caller.send(request(number, turn));
        answers.push(answer);
        const pause =
          answer.status === 503 && isPatient
            ? Number(answer.retryAfter) * 1000
            : everyMs - answer.took;
        if (pause > 0) await sleep(Math.min(pause, until - performance.now()));
      }
    };
    await Promise.all(this.callers.map(one));
    return answers;
  }

  leave(): void {
    for (const caller of this.callers) caller.close();
  }
}

/** Whether it is anything but "later". */
export function isAdmitted({ status }: RawAnswer): boolean {
  return status !== 503;
}

/** The latency that so many in a hundred have at most, in milliseconds. */
export function percentile(answers: readonly RawAnswer[], percent: number): number {
  const sorted = answers.map(({ took }) => took).toSorted((one, other) => one - other);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? NaN;
}
