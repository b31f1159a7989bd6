import { Logger } from '@nestjs/common';
import { FixedClock, SmsInbox } from '../../../../test/support/doubles.js';
import { later, MINUTE, SECOND } from '../../../common/clock.js';
import { GatewayError } from './sms/gateway-call.js';
import { SmsSender } from './sms/sms-sender.js';
import { SmsQueue, type Errand } from './sms-queue.js';

const MESSAGE = { id: 'm-1', to: '+14155550101', text: '123456' };

describe('The queue of text messages', () => {
  let clock: FixedClock;
  let inbox: SmsInbox;
  let queue: SmsQueue;
  let failures: string[];
  /** Of the log. */
  let lines: string[];

  beforeEach(() => {
    lines = [];
    vi.spyOn(Logger.prototype, 'error').mockImplementation((line: string) => lines.push(line));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    clock = new FixedClock();
    inbox = new SmsInbox();
    queue = new SmsQueue(inbox, clock);
    failures = [];
  });

  afterEach(async () => {
    await queue.onApplicationShutdown();
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  function errand(more: Partial<Errand> = {}): Errand {
    return {
      message: MESSAGE,
      expiresAt: later(clock.now(), 5 * MINUTE),
      admit: async () => true,
      failed: async () => {
        failures.push(more.message === null ? 'nobody' : MESSAGE.id);
      },
      ...more,
    };
  }

  /** Lets time go by, for the timers and for the clock. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(SECOND);
      await vi.advanceTimersByTimeAsync(SECOND);
      await settled();
    }
  }

  async function settled(): Promise<void> {
    for (let round = 0; round < 10; round += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }

  function tries(): number {
    return inbox.refused.length + inbox.messages.length;
  }

  it('sends nothing before the request that asked has had its turn', async () => {
    queue.add(errand());
    await Promise.resolve();
    expect(inbox.messages).toEqual([]);
    await settled();
    expect(inbox.messages).toEqual([MESSAGE]);
  });

  it('has sent everything when the service has ended', async () => {
    queue.add(errand());
    await queue.onApplicationShutdown();
    expect(inbox.messages).toEqual([MESSAGE]);
  });

  it('drops what is not admitted, and asks no more than once for all tries', async () => {
    let asked = 0;
    inbox.refuse(1);
    queue.add(errand({ admit: async () => (asked += 1) > 0 }));
    queue.add(errand({ admit: async () => false, message: { ...MESSAGE, id: 'm-2' } }));
    await pass(50);
    expect({ asked, failures, tries: tries() }).toEqual({ asked: 1, failures: [], tries: 2 });
    expect(inbox.messages).toEqual([MESSAGE]);
  });

  it('O58 asks again whether a message may go while nobody can tell, and then sends it', async () => {
    let asked = 0;
    const admit = async (): Promise<boolean> => {
      asked += 1;
      if (asked < 3) throw new Error('no database');
      return true;
    };
    queue.add(errand({ admit }));
    await pass(11);
    expect({ asked, tries: tries() }).toEqual({ asked: 2, tries: 0 });
    await pass(50);
    expect({ asked, failures, sent: inbox.messages }).toEqual({
      asked: 3,
      failures: [],
      sent: [MESSAGE],
    });
  });

  it('O58 fails as late as others when nobody can tell whether a message may go', async () => {
    queue.add(errand({ admit: () => Promise.reject(new Error('no database')) }));
    queue.add(errand({ message: null }));
    await pass(41);
    expect(failures).toEqual([]);
    await pass(2);
    expect({ failures, tries: tries() }).toEqual({ failures: [MESSAGE.id, 'nobody'], tries: 0 });
  });

  it('O58 tries again after 2, 10 and 30 seconds, each time the same message', async () => {
    inbox.refuse();
    queue.add(errand());
    const made: number[] = [];
    for (const seconds of [0, 1, 1, 9, 1, 29, 1, 60]) {
      await pass(seconds);
      await settled();
      made.push(tries());
    }
    expect(made).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(inbox.refused).toEqual([MESSAGE, MESSAGE, MESSAGE, MESSAGE]);
    expect(failures).toEqual([MESSAGE.id]);
  });

  it('O58 is done with the first try that succeeds', async () => {
    inbox.refuse(2);
    queue.add(errand());
    await pass(60);
    expect({ tries: tries(), sent: inbox.messages.length, failures }).toEqual({
      tries: 3,
      sent: 1,
      failures: [],
    });
  });

  it('O58 makes no try when the password would not work any more', async () => {
    inbox.refuse();
    queue.add(errand({ expiresAt: later(clock.now(), 12 * SECOND) }));
    await pass(11);
    expect({ tries: tries(), failures }).toEqual({ tries: 2, failures: [MESSAGE.id] });
  });

  it('O58 makes one last try, at once, when the service ends', async () => {
    inbox.refuse(1);
    queue.add(errand());
    await pass(1);
    await queue.onApplicationShutdown();
    expect({ sent: inbox.messages, failures }).toEqual({ sent: [MESSAGE], failures: [] });
  });

  it('O58 has told of every failure when the service has ended', async () => {
    inbox.refuse();
    queue.add(errand());
    await pass(1);
    await queue.onApplicationShutdown();
    expect({ tries: tries(), failures }).toEqual({ tries: 2, failures: [MESSAGE.id] });
  });

  it('O58 tries only once what a gateway may have taken, and fails as late as with others', async () => {
    let calls = 0;
    const unsure = new (class extends SmsSender {
      override async send(): Promise<void> {
        calls += 1;
        throw new GatewayError({ kind: 'timeout' }, false);
      }
    })();
    const careful = new SmsQueue(unsure, clock);
    careful.add(errand());
    await pass(41);
    expect({ calls, failures }).toEqual({ calls: 1, failures: [] });
    await pass(2);
    expect({ calls, failures }).toEqual({ calls: 1, failures: [MESSAGE.id] });
  });

  it('O58 fails for a phone that nobody has while messages fail, as late as they do', async () => {
    inbox.refuse();
    queue.add(errand());
    await pass(43);
    expect(failures).toEqual([MESSAGE.id]);
    queue.add(errand({ message: null }));
    await pass(41);
    expect(failures).toEqual([MESSAGE.id]);
    await pass(2);
    expect({ failures, tries: tries() }).toEqual({ failures: [MESSAGE.id, 'nobody'], tries: 4 });
  });

  it('O58 fails for a phone that nobody has when the outage began after it was asked for', async () => {
    inbox.refuse();
    queue.add(errand());
    await pass(5);
    queue.add(errand({ message: null }));
    await pass(60);
    expect(failures).toEqual([MESSAGE.id, 'nobody']);
  });

  it('O58 does not fail for a phone that nobody has once messages arrive again', async () => {
    inbox.refuse();
    queue.add(errand());
    await pass(43);
    queue.add(errand({ message: null }));
    inbox.refuse(0);
    queue.add(errand());
    await pass(60);
    expect(failures).toEqual([MESSAGE.id]);
  });

  it('outlives a fault in what follows a failure, and logs neither phone nor text', async () => {
    inbox.refuse();
    const expiresAt = later(clock.now(), SECOND);
    queue.add(errand({ expiresAt, failed: () => Promise.reject(new Error('no database')) }));
    await settled();
    inbox.refuse(0);
    queue.add(errand());
    await settled();
    expect(inbox.messages).toEqual([MESSAGE]);
    expect(lines).toEqual([
      'A one-time password could not be sent: The gateway is out of order.',
      'A message was lost: no database',
    ]);
  });
});
