import { setTimeout as sleep } from 'node:timers/promises';
import { beginWaiting, isOverdue, limited, sameLimit } from './deadline.js';

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
    await limited(async () => {
      await sleep(LONGER_MS);
      expect(isOverdue(SHORT_MS)).toBe(false);
      await wait(LONGER_MS);
      expect(isOverdue(SHORT_MS)).toBe(true);
      for (let waits = 1; waits < 10; waits += 1) await wait(LONGER_MS);
      expect(isOverdue(9 * LONGER_MS)).toBe(true);
      expect(isOverdue(1000 * LONGER_MS)).toBe(false);
    });
  });

  it('counts what is waited for at the same time once', async () => {
    await limited(async () => {
      await Promise.all(Array.from({ length: 100 }, () => wait(LONGER_MS)));
      expect(isOverdue(SHORT_MS)).toBe(true);
      expect(isOverdue(50 * LONGER_MS)).toBe(false);
    });
  });

  it('is not that of work which is done for several', async () => {
    await limited(async () => {
      await wait(LONGER_MS);
      expect(limited(() => isOverdue(SHORT_MS))).toBe(false);
      expect(isOverdue(SHORT_MS)).toBe(true);
    });
  });

  it('is that of who asked to be called, not of who calls', async () => {
    const seen: boolean[] = [];
    const see = (): void => void seen.push(isOverdue(SHORT_MS));
    const unlimited = sameLimit(see);
    const fresh = limited(() => sameLimit(see));
    await limited(async () => {
      await wait(LONGER_MS);
      fresh();
      unlimited();
      const own = sameLimit(see);
      limited(() => own());
      see();
    });
    expect(seen).toEqual([false, false, true, true]);
  });

  it('is none for what goes on when nobody waits any more', async () => {
    let isAnswered = false;
    await limited(
      async () => {
        await wait(LONGER_MS);
        expect(isOverdue(SHORT_MS)).toBe(true);
        isAnswered = true;
        expect(isOverdue(SHORT_MS)).toBe(false);
      },
      () => isAnswered,
    );
  });

  it('is none for jobs and commands', async () => {
    await wait(LONGER_MS);
    expect(isOverdue(SHORT_MS)).toBe(false);
  });
});
