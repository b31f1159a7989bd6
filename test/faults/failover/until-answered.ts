import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_PAUSE_MS = 100;

interface Patience {
  /** Is called at each "later". */
  putOff?: () => void;
  /** Whether a "later" is the last. */
  isOver?: () => boolean;
}

/** Sends the same until it is answered with something else than "later". */
export async function untilAnswered(
  send: () => Promise<Response>,
  { putOff, isOver }: Patience = {},
): Promise<Response> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    if (isOver?.() === true) return answer;
    await answer.body?.cancel();
    putOff?.();
    await sleep(LONGEST_PAUSE_MS * Math.random());
  }
}
