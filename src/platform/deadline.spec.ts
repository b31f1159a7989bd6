import { setTimeout as sleep } from 'node:timers/promises';
import { beginWaiting, isPastDeadline, withDeadline, sameDeadline } from './deadline.js';

const SHORT_MS = 20;
const LONGER_MS = 2 * SHORT_MS;

async function wait(milliseconds: number): Promise<void> {
  const end = beginWaiting();
  await sleep(milliseconds);
  end();
  end();
}

describe('The time limit of work that somebody waits for', () => {
  it('is for all its waits together, and for nothing else', async () => {
    await withDeadline(async () => {
      await sleep(LONGER_MS);
      expect(isPastDeadline(SHORT_MS)).toBe(false);
      await wait(LONGER_MS);
      expect(isPastDeadline(SHORT_MS)).toBe(true);
      for (let waits = 1; waits < 10; waits += 1) await wait(LONGER_MS);
      expect(isPastDeadline(9 * LONGER_MS)).toBe(true);
      expect(isPastDeadline(1000 * LONGER_MS)).toBe(false);
    });
  });

  it('counts what is waited for at the same time once', async () => {
    await withDeadline(async () => {
      await Promise.all(Array.from({ length: 100 }, () => wait(LONGER_MS)));
      expect(isPastDeadline(SHORT_MS)).toBe(true);
      expect(isPastDeadline(50 * LONGER_MS)).toBe(false);
    });
  });

  it('is not that of work which is done for several', async () => {
    await withDeadline(async () => {
      await wait(LONGER_MS);
      expect(withDeadline(() => isPastDeadline(SHORT_MS))).toBe(false);
      expect(isPastDeadline(SHORT_MS)).toBe(true);
    });
  });

  it('is that of who asked to be called, not of who calls', async () => {
    const seen: boolean[] = [];
    const see = (): void => void seen.push(isPastDeadline(SHORT_MS));
    const unlimited = sameDeadline(see);
    const fresh = withDeadline(() => sameDeadline(see));
    await withDeadline(async () => {
      await wait(LONGER_MS);
      fresh();
      unlimited();
      const own = sameDeadline(see);
      withDeadline(() => own());
      see();
    });
    expect(seen).toEqual([false, false, true, true]);
  });

  it('is none for what goes on when nobody waits any more', async () => {
    let isAnswered = false;
    await withDeadline(
      async () => {
        await wait(LONGER_MS);
        expect(isPastDeadline(SHORT_MS)).toBe(true);
        isAnswered = true;
        expect(isPastDeadline(SHORT_MS)).toBe(false);
      },
      () => isAnswered,
    );
  });

  it('is none for jobs and commands', async () => {
    await wait(LONGER_MS);
    expect(isPastDeadline(SHORT_MS)).toBe(false);
  });
});
