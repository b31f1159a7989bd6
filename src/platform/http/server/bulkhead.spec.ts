import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import type { AppConfig } from '../../config/app-config.js';
import { Bulkhead, Permit } from './bulkhead.js';

/** Ten permits: five for each connection. One app may hold six. */
const POOL_SIZE = 2;
const QUEUE_LIMIT = 3;
const QUEUE_TIMEOUT_MS = 200;

class TestRequest {
  state: 'waiting' | 'running' | 'refused' = 'waiting';
  readonly permit: Permit;
  private readonly response = Object.assign(new EventEmitter(), { headersSent: false });

  constructor(
    bulkhead: Bulkhead,
    readonly app: string,
    private readonly started: string[],
  ) {
    this.permit = new Permit(bulkhead, this.response as unknown as Response);
    this.follow(this.permit.acquire().then(() => this.permit.assign(app)));
  }

  resume(): void {
    this.state = 'waiting';
    this.follow(this.permit.acquire());
  }

  respond(): void {
    this.response.headersSent = true;
  }

  disconnect(): void {
    this.response.emit('close');
  }

  private follow(permitted: Promise<void>): void {
    permitted.then(
      () => {
        this.state = 'running';
        this.started.push(this.app);
      },
      () => (this.state = 'refused'),
    );
  }
}

describe('Bulkhead', () => {
  let bulkhead: Bulkhead;
  /** The apps of the requests that have started, in order. */
  let started: string[];
  beforeEach(() => {
    started = [];
    const database = {
      poolSize: POOL_SIZE,
      queueLimit: QUEUE_LIMIT,
      queueTimeoutMs: QUEUE_TIMEOUT_MS,
    };
    bulkhead = new Bulkhead({ database } as AppConfig);
  });
  afterEach(() => void vi.useRealTimers());

  /** Sends requests of these apps, one after the other, such as `2 a, b`: two of the app `a` and one of `b`. */
  async function send(text: string): Promise<TestRequest[]> {
    const requests = [];
    for (const part of text.split(', ').filter(Boolean)) {
      const [app = '', count = 1] = part.split(' ').toReversed();
      for (let sent = 0; sent < Number(count); sent += 1) {
        requests.push(new TestRequest(bulkhead, app, started));
        await setImmediate();
      }
    }
    return requests;
  }

  async function sendOne(app: string): Promise<TestRequest> {
    const [request] = await send(app);
    return request as TestRequest;
  }

  it.each([
    // [requests before, next request, its state]
    ['', 'a', 'running'],
    ['5 a', 'a', 'running'],
    ['6 a', 'a', 'waiting'],
    ['6 a', 'b', 'running'],
    ['6 a, 3 b', 'c', 'running'],
    ['6 a, 4 b', 'c', 'waiting'],
    ['6 a, 3 a', 'a', 'refused'],
    ['6 a, 3 a', 'b', 'running'],
    ['6 a, 3 a, 4 b', 'c', 'waiting'],
    ['6 a, 4 b, 3 c', 'd', 'refused'],
  ])('C27 after the requests (%s), one of %s is %s', async (before, app, state) => {
    await send(before);
    expect((await sendOne(app)).state).toBe(state);
  });

  it.each([
    // [requests, in order; apps whose running requests end, in order; apps of the requests that start, in order]
    ['6 a, 4 b, c, d', 'b', ['c']],
    ['6 a, 4 b, c, d', 'ba', ['c', 'd']],
    // Requests that wait for a permit of their app do not block others.
    ['6 a, 2 a, 4 b, c', 'b', ['c']],
    ['6 a, 4 b, 2 a, c', 'b', ['c']],
    // They join the queue when they get it.
    ['6 a, 2 a, 4 b, c', 'aa', ['c', 'a']],
    ['6 a, 2 a', 'aa', ['a', 'a']],
    // They do not take the permits of others.
    ['6 a, 2 a, 4 b', 'bb', []],
  ])('C27 after the requests (%s), the end of %s starts %j', async (sent, ends, starts) => {
    const requests = await send(sent);
    const running = requests.filter(({ state }) => state === 'running');
    started.length = 0;
    for (const end of ends) {
      const index = running.findIndex(({ app }) => app === end);
      running.splice(index, 1)[0]?.permit.release();
      await setImmediate();
    }
    expect(started).toEqual(starts);
    expect(bulkhead.waiting).toBe(requests.length - running.length - ends.length - starts.length);
  });

  it('passes the permits of an app on in the order of its requests', async () => {
    const [running, , , , , , first, second] = await send('6 a, 2 a');
    running?.permit.release();
    await setImmediate();
    expect([first?.state, second?.state]).toEqual(['running', 'waiting']);
  });

  it('refuses a request that has waited too long in all queues together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const [, , , , , , other] = await send('6 a, 4 b');
    const request = await sendOne('a');
    await vi.advanceTimersByTimeAsync(QUEUE_TIMEOUT_MS / 2);
    other?.permit.release();
    await vi.advanceTimersByTimeAsync(QUEUE_TIMEOUT_MS / 2 - 1);
    expect(request.state).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect([request.state, bulkhead.waiting]).toEqual(['refused', 0]);
  });

  it.each(['6 a', '6 b, 4 c'])(
    'removes a request from its queue when its client disconnects (%s)',
    async (before) => {
      await send(before);
      const request = await sendOne('a');
      expect(bulkhead.waiting).toBe(1);
      request.disconnect();
      await setImmediate();
      expect([request.state, bulkhead.waiting]).toEqual(['refused', 0]);
    },
  );

  it.each([
    ['has no response yet', false, 'waiting'],
    ['has begun its response', true, 'running'],
  ])(
    'when a client disconnects and its request %s, the next one is %s',
    async (_, hasResponse, next) => {
      const [request] = await send('6 a');
      if (hasResponse) request?.respond();
      request?.disconnect();
      expect((await sendOne('a')).state).toBe(next);
    },
  );

  it('does not count a request while its body arrives, and counts it again afterwards', async () => {
    const [receiving] = await send('6 a');
    receiving?.permit.release();
    const next = await sendOne('a');
    expect(next.state).toBe('running');
    receiving?.resume();
    expect(receiving?.state).toBe('waiting');
    next.permit.release();
    await setImmediate();
    expect(receiving?.state).toBe('running');
    expect((await sendOne('a')).state).toBe('waiting');
  });

  it('takes no permit for a request whose client disconnected while its body arrived', async () => {
    const [receiving] = await send('6 a');
    receiving?.permit.release();
    receiving?.disconnect();
    receiving?.resume();
    expect((await sendOne('a')).state).toBe('running');
  });

  it('has all permits again after its requests have ended', async () => {
    for (const { permit } of await send('6 a, 4 b')) permit.release();
    const requests = await send('6 c, 4 d');
    expect(requests.map(({ state }) => state)).toEqual(requests.map(() => 'running'));
  });
});
