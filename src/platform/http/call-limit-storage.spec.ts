import { MINUTE, SECOND, type Clock } from '../clock.js';
import { CallLimitStorage } from './call-limit-storage.js';

const WINDOW = 15 * MINUTE;
const SLOT = WINDOW / 60;
const LIMIT = 5;

describe('CallLimitStorage', () => {
  let now: number;
  let storage: CallLimitStorage;

  beforeEach(() => {
    now = Date.parse('2026-11-21T09:30:07Z');
    const clock = { monotonic: () => new Date(now) } as Clock;
    storage = new CallLimitStorage(clock);
  });

  const call = (key = 'a') => storage.increment(key, WINDOW, LIMIT);

  /** Returns for each call whether it was blocked. */
  async function callTimes(times: number, key = 'a'): Promise<boolean[]> {
    const blocked: boolean[] = [];
    for (let count = 0; count < times; count += 1) blocked.push((await call(key)).isBlocked);
    return blocked;
  }

  it('allows calls up to the limit and blocks the next', async () => {
    expect(await callTimes(LIMIT)).toEqual(Array<boolean>(LIMIT).fill(false));
    expect((await call()).isBlocked).toBe(true);
    expect((await call('b')).isBlocked).toBe(false);
  });

  it('says that no call waits longer than the window', async () => {
    // The start of a slot, from which the wait is the longest.
    now = Date.parse('2026-11-21T09:30:00Z');
    expect((await call()).timeToExpire).toBe(WINDOW / SECOND);
    await callTimes(LIMIT);
    expect((await call()).timeToBlockExpire).toBe(WINDOW / SECOND);
  });

  it('does not count a blocked call', async () => {
    await callTimes(LIMIT + 100);
    const { totalHits, timeToBlockExpire } = await call();
    expect(totalHits).toBe(LIMIT);
    now += timeToBlockExpire * SECOND;
    expect((await call()).isBlocked).toBe(false);
  });

  it('counts a call for at most one window, and for at most one slot less', async () => {
    await callTimes(LIMIT - 1);
    now += WINDOW - MINUTE;
    expect(await callTimes(2)).toEqual([false, true]);
    now += MINUTE - SLOT;
    expect(await callTimes(1)).toEqual([true]);
    now += SLOT;
    expect(await callTimes(LIMIT)).toEqual([...Array<boolean>(LIMIT - 1).fill(false), true]);
  });

  it('drops the least recently used window beyond 10,000 keys', async () => {
    await callTimes(LIMIT, 'first');
    await callTimes(LIMIT, 'busy');
    for (let key = 0; key < 9998; key += 1) await call(`key ${key}`);
    expect(await callTimes(1, 'busy')).toEqual([true]);
    await call('one more');
    expect(await callTimes(1, 'first')).toEqual([false]);
    expect(await callTimes(1, 'busy')).toEqual([true]);
  });
});
