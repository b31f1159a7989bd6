import { setTimeout as sleep } from 'node:timers/promises';
import {
  bindContext,
  currentRequest,
  duringRequest,
  isPastDeadline,
  type RequestContext,
  restartDeadline,
  withDeadline,
} from './request-context.js';

const SHORT_MS = 20;
const LONGER_MS = 2 * SHORT_MS;

const request = (requestId = 'req_1'): RequestContext => ({
  requestId,
  receivedAt: new Date(),
  address: null,
  violations: [],
});

/** Runs `work` as part of a request. */
function serve(work: () => Promise<void>, options?: { isFinished: () => boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    duringRequest(request(), () => void work().then(resolve, reject), options);
  });
}

describe('The deadline of a request', () => {
  it('starts with the request', async () => {
    await serve(async () => {
      expect(isPastDeadline(SHORT_MS)).toBe(false);
      await sleep(LONGER_MS);
      expect(isPastDeadline(SHORT_MS)).toBe(true);
      expect(isPastDeadline(1000 * LONGER_MS)).toBe(false);
    });
  });

  it('restarts when the bulkhead admits the request', async () => {
    await serve(async () => {
      await sleep(LONGER_MS);
      restartDeadline();
      expect(isPastDeadline(SHORT_MS)).toBe(false);
    });
  });

  it('excludes the time of work with its own deadline', async () => {
    await serve(async () => {
      await withDeadline(async () => {
        await sleep(LONGER_MS);
        expect(isPastDeadline(SHORT_MS)).toBe(true);
        expect(currentRequest()?.requestId).toBe('req_1');
      });
      expect(isPastDeadline(SHORT_MS)).toBe(false);
      await sleep(LONGER_MS);
      await withDeadline(async () => expect(isPastDeadline(SHORT_MS)).toBe(false));
      expect(isPastDeadline(SHORT_MS)).toBe(true);
    });
  });

  it('no longer applies once the response is sent', async () => {
    let isSent = false;
    await serve(
      async () => {
        await sleep(LONGER_MS);
        expect(isPastDeadline(SHORT_MS)).toBe(true);
        isSent = true;
        expect(isPastDeadline(SHORT_MS)).toBe(false);
        await withDeadline(async () => expect(isPastDeadline(-1)).toBe(false));
      },
      { isFinished: () => isSent },
    );
  });

  it('does not apply to jobs and commands', async () => {
    await sleep(LONGER_MS);
    expect(isPastDeadline(SHORT_MS)).toBe(false);
    expect(currentRequest()).toBeUndefined();
  });
});

it('bindContext runs a callback in the context of the request that bound it', async () => {
  const seen: unknown[] = [];
  const recordContext = (): void =>
    void seen.push([currentRequest()?.requestId, isPastDeadline(SHORT_MS)]);
  const boundOutside = bindContext(recordContext);
  await serve(async () => {
    const boundInRequest = bindContext(recordContext);
    await sleep(LONGER_MS);
    duringRequest(request('req_2'), boundInRequest);
    boundOutside();
  });
  expect(seen).toEqual([
    ['req_1', true],
    [undefined, false],
  ]);
});
