import { Logger } from '@nestjs/common';
import { FixedClock, SmsInbox } from '../../../../../test/support/doubles.js';
import { addMilliseconds, MINUTE, SECOND } from '../../../../platform/clock.js';
import { SmsQueue, type SmsJob } from './sms-queue.js';
import { GatewayError, SmsSender } from './sms-senders.js';

const MESSAGE = { id: 'm-1', to: '+14155550101', text: '123456' };

describe('SmsQueue', () => {
  let clock: FixedClock;
  let inbox: SmsInbox;
  let queue: SmsQueue;
  let failures: string[];
  let reasons: string[];
  let sent: number;
  let logged: string[];

  beforeEach(() => {
    logged = [];
    vi.spyOn(Logger.prototype, 'error').mockImplementation((line: string) => logged.push(line));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    clock = new FixedClock();
    inbox = new SmsInbox();
    queue = new SmsQueue(inbox, clock);
    failures = [];
    reasons = [];
    sent = 0;
  });

  afterEach(async () => {
    await queue.onApplicationShutdown();
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  function job(overrides: Partial<SmsJob> = {}): SmsJob {
    return {
      message: MESSAGE,
      expiresAt: addMilliseconds(clock.now(), 5 * MINUTE),
      shouldSend: async () => true,
      onSent: () => {
        sent += 1;
      },
      onFailure: async ({ message }) => {
        failures.push(MESSAGE.id);
        reasons.push(message);
      },
      ...overrides,
    };
  }

  /** Advances the timers and the clock. */
  async function advance(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(SECOND);
      await vi.advanceTimersByTimeAsync(SECOND);
      await settled();
    }
  }

  /** Waits for more event-loop turns than a job needs to start. */
  async function settled(): Promise<void> {
    for (let round = 0; round < 30; round += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }

  /** The number of messages that the sender refused or sent. */
  function attempts(): number {
    return inbox.refused.length + inbox.messages.length;
  }

  it('sends nothing in the event-loop turn in which the message is added', async () => {
    queue.add(job());
    await Promise.resolve();
    expect(inbox.messages).toEqual([]);
    await settled();
    expect(inbox.messages).toEqual([MESSAGE]);
  });

  it('sends a queued message before the shutdown completes', async () => {
    queue.add(job());
    await queue.onApplicationShutdown();
    expect(inbox.messages).toEqual([MESSAGE]);
  });

  it('drops a message that is not needed, and one that is no longer needed at a retry', async () => {
    let checks = 0;
    const shouldSend = async (): Promise<boolean> => {
      checks += 1;
      return checks === 1;
    };
    inbox.refuse(1);
    queue.add(job({ shouldSend }));
    await settled();
    queue.add(job({ shouldSend: async () => false, message: { ...MESSAGE, id: 'm-2' } }));
    await advance(50);
    expect({ checks, failures, sent, attempts: attempts() }).toEqual({
      checks: 2,
      failures: [],
      sent: 0,
      attempts: 1,
    });
  });

  it('O58 repeats the check while it throws, then sends the message', async () => {
    let checks = 0;
    const shouldSend = async (): Promise<boolean> => {
      checks += 1;
      if (checks < 3) throw new Error('no database');
      return true;
    };
    queue.add(job({ shouldSend }));
    await advance(11);
    expect({ checks, attempts: attempts() }).toEqual({ checks: 2, attempts: 0 });
    await advance(50);
    expect({ checks, failures, sent: inbox.messages }).toEqual({
      checks: 3,
      failures: [],
      sent: [MESSAGE],
    });
  });

  it('O58 fails after the last attempt if the check throws each time', async () => {
    queue.add(job({ shouldSend: () => Promise.reject(new Error('no database')) }));
    await advance(41);
    expect(failures).toEqual([]);
    await advance(2);
    expect({ failures, attempts: attempts() }).toEqual({ failures: [MESSAGE.id], attempts: 0 });
  });

  it('O58 retries the same message three times, after pauses of 2, 10 and 30 seconds', async () => {
    inbox.refuse();
    queue.add(job());
    const attemptsAfter: number[] = [];
    // Advances to 0, 1, 2, 11, 12, 41, 42 and 102 seconds.
    for (const seconds of [0, 1, 1, 9, 1, 29, 1, 60]) {
      await advance(seconds);
      await settled();
      attemptsAfter.push(attempts());
    }
    expect(attemptsAfter).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(inbox.refused).toEqual([MESSAGE, MESSAGE, MESSAGE, MESSAGE]);
    expect({ failures, sent }).toEqual({ failures: [MESSAGE.id], sent: 0 });
  });

  it('O58 stops after the first successful attempt', async () => {
    inbox.refuse(2);
    queue.add(job());
    await advance(60);
    expect({ attempts: attempts(), sent: inbox.messages.length, failures }).toEqual({
      attempts: 3,
      sent: 1,
      failures: [],
    });
  });

  it('O58 makes no retry that would come after the password expires', async () => {
    inbox.refuse();
    queue.add(job({ expiresAt: addMilliseconds(clock.now(), 12 * SECOND) }));
    await advance(11);
    expect({ attempts: attempts(), failures }).toEqual({ attempts: 2, failures: [MESSAGE.id] });
  });

  it.each([
    ['succeeds', 1, { sent: [MESSAGE], failures: [] }],
    ['fails, which is reported', undefined, { sent: [], failures: [MESSAGE.id] }],
  ])(
    'O58 makes one last attempt before the shutdown completes: it %s',
    async (_, count, result) => {
      inbox.refuse(count);
      queue.add(job());
      await advance(1);
      await queue.onApplicationShutdown();
      expect(attempts()).toBe(2);
      expect({ sent: inbox.messages, failures }).toEqual(result);
    },
  );

  /** A gateway whose first response is 429 with this `Retry-After`. Resolves to the seconds between its attempts. */
  async function pausesWith(retryAfter: string, expiresInSeconds = 300): Promise<number[]> {
    const times: number[] = [];
    const gateway = new (class extends SmsSender {
      override async send(): Promise<void> {
        times.push(clock.now().getTime() / SECOND);
        if (times.length > 1) return;
        throw new GatewayError({ kind: 'status', status: 429, retryAfter }, { mayRetry: true });
      }
    })();
    const expiresAt = addMilliseconds(clock.now(), expiresInSeconds * SECOND);
    const limited = new SmsQueue(gateway, clock);
    limited.add(job({ expiresAt }));
    await settled();
    await advance(expiresInSeconds);
    await limited.idle();
    return times.slice(1).map((time, index) => time - (times[index] ?? 0));
  }

  it.each([
    ['8', 8],
    ['60', 60],
    ['1', 2],
    ['0', 2],
    ['soon', 2],
    ['-5', 2],
    ['1.5', 2],
    ['299', 299],
  ])('O58 waits %s seconds, but at least two, if Retry-After demands it', async (value, pause) => {
    expect(await pausesWith(value)).toEqual([pause]);
  });

  it('O58 waits for the date of Retry-After, in each format of RFC 9110 §5.6.7', async () => {
    clock.set('2026-12-06T08:48:00Z');
    expect(await pausesWith('Sun, 06 Dec 2026 08:49:00 GMT')).toEqual([60]);
    clock.set('2026-12-06T08:48:00Z');
    expect(await pausesWith('Sunday, 06-Dec-26 08:49:00 GMT')).toEqual([60]);
    clock.set('2026-12-06T08:48:00Z');
    expect(await pausesWith('Sun Dec  6 08:49:00 2026')).toEqual([60]);
    expect(await pausesWith(new Date(0).toUTCString())).toEqual([2]);
  });

  it.each(['300', '86400', '99999999999999999999'])(
    'O58 gives up at once if Retry-After is %s seconds, after the password expires',
    async (value) => {
      expect(await pausesWith(value)).toEqual([]);
      expect(failures).toEqual([MESSAGE.id]);
    },
  );

  it('O58 does not retry a message that the gateway may have accepted', async () => {
    let calls = 0;
    const slowGateway = new (class extends SmsSender {
      override async send(): Promise<void> {
        calls += 1;
        throw new GatewayError({ kind: 'timeout', wasSent: true }, { mayRetry: false });
      }
    })();
    const slowQueue = new SmsQueue(slowGateway, clock);
    slowQueue.add(job());
    await settled();
    expect({ calls, failures }).toEqual({ calls: 1, failures: [MESSAGE.id] });
    expect(reasons).toEqual(['The SMS gateway did not respond in time.']);
    await advance(60);
    expect(calls).toBe(1);
  });

  it('continues after onFailure throws, and logs neither phone nor text', async () => {
    inbox.refuse();
    const expiresAt = addMilliseconds(clock.now(), SECOND);
    queue.add(job({ expiresAt, onFailure: () => Promise.reject(new Error('no database')) }));
    await settled();
    inbox.refuse(0);
    queue.add(job());
    await settled();
    expect(inbox.messages).toEqual([MESSAGE]);
    expect(logged).toEqual([
      'A one-time password could not be sent: The gateway is out of order.',
      'A failed text message could not be recorded: no database',
    ]);
  });
});
