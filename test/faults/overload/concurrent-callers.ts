import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, type RawResponse } from './raw-connection.js';

export interface Behaviour {
  /** Milliseconds between the starts of two requests of a caller. */
  intervalMs: number;
  obeysRetryAfter: boolean;
}

/** Many connections, each with a caller that sends one request after the other. */
export class ConcurrentCallers {
  private constructor(private readonly callers: readonly RawConnection[]) {}

  static async connect(baseUrl: string, size: number): Promise<ConcurrentCallers> {
    return new ConcurrentCallers(
      await Promise.all(Array.from({ length: size }, () => RawConnection.connect(baseUrl))),
    );
  }

  /**
   * Calls for `forMs` milliseconds and returns the responses. All callers begin at the same moment, unless they have intervals.
   * @param request builds a request; `caller` and `turn` are numbers from 0: of the caller, and of its request
   * @throws when a request gets no response
   */
  async call(
    forMs: number,
    request: (caller: number, turn: number) => string,
    { intervalMs, obeysRetryAfter }: Behaviour,
  ): Promise<RawResponse[]> {
    const responses: RawResponse[] = [];
    const until = performance.now() + forMs;
    const repeatCalls = async (caller: RawConnection, number: number): Promise<void> => {
      await sleep(Math.random() * intervalMs);
      for (let turn = 0; performance.now() < until; turn += 1) {
        const response = await caller.send(request(number, turn));
        responses.push(response);
        const pause =
          response.status === 503 && obeysRetryAfter
            ? Number(response.retryAfter) * 1000
            : intervalMs - response.durationMs;
        if (pause > 0) await sleep(Math.min(pause, until - performance.now()));
      }
    };
    await Promise.all(this.callers.map(repeatCalls));
    return responses;
  }

  disconnect(): void {
    for (const caller of this.callers) caller.close();
  }
}

/** Whether the response is not 503. */
export function isAdmitted({ status }: RawResponse): boolean {
  return status !== 503;
}

/** A percentile of the response time, in milliseconds. */
export function percentile(responses: readonly RawResponse[], percent: number): number {
  const sorted = responses
    .map(({ durationMs }) => durationMs)
    .toSorted((one, other) => one - other);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? NaN;
}
