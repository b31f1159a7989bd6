import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_PAUSE_MS = 100;

/**
 * Sends the same until it is answered with something else than "later".
 * @param putOff is called at each "later"
 */
export async function untilAnswered(
  send: () => Promise<Response>,
  putOff: () => void = () => undefined,
): Promise<Response> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await answer.body?.cancel();
    putOff();
    await sleep(LONGEST_PAUSE_MS * Math.random());
  }
}
