import { setTimeout as sleep } from 'node:timers/promises';
import { onOneServer, onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import type { RawResponse } from './raw-connection.js';
import { ConcurrentCallers, isAdmitted, type Behaviour, percentile } from './concurrent-callers.js';
import { publish, readPosts } from './requests.js';

/** Number of callers at full load, where they call without pauses, and at half load, where they call at half that rate. */
const FEW = 48;
/** Number of callers under overload. */
const MANY = 1000;
const MEMBERS = byExtent({ whole: 50, quick: 10 });
/** Every fourth request is a publish. */
const PUBLISH_EVERY = 4;
/** Duration of the initial burst, which is measured separately. */
const BURST_MS = 500;
const QUEUE_TIMEOUT_MS = 1000;
/** For a request that got its permit just before the timeout. */
const MAX_ADMITTED_MS = QUEUE_TIMEOUT_MS + 1000;
/** For a thousand requests at the same moment, of which the service reads the last ones late. */
const MAX_BURST_MS = MAX_ADMITTED_MS + 1000;
/** Longest response time, with slack. */
const MAX_RESPONSE_MS = 8000;
const ROUNDS = byExtent({ whole: 3, quick: 1 });
const MEASURE_MS = byExtent({ whole: 4000, quick: 500 });
const TEST_TIMEOUT_MS = byExtent({ whole: 150_000, quick: 60_000 });
/** Maximum 99th percentile after recovery, as a multiple of that at half load. A single short measurement is less exact. */
const MAX_SLOWDOWN = byExtent({ whole: 5, quick: 20 });
const MAX_MEMORY_MB = 300;
const MAX_RECOVERY_MS = 3000;
/** Minimum rate after recovery, as a part of the rate at half load. */
const MIN_RECOVERED_RATE = 0.8;
/**
 * Minimum rate of admitted requests under overload, as a part of the rate at full load. The callers run on the same
 * processors as the service, and a thousand of them need more processor time than 48.
 */
const MIN_GOODPUT = byExtent({ whole: 0.5, quick: 0.3 });
const NO_PAUSE: Behaviour = { intervalMs: 0, obeysRetryAfter: true };
const IGNORE_RETRY_AFTER: Behaviour = { intervalMs: 0, obeysRetryAfter: false };

(IS_QUICK ? onOneServer : onSqliteAndOneServer)('A thousand concurrent callers', (database) => {
  const setupApp = useTestApp(database);
  let service: ServiceProcess;
  let members: Member[];
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    const client = await setupApp().addClient();
    members = [];
    while (members.length < MEMBERS) members.push(await Member.join(setupApp(), { client }));
    const env = { MIGRATE: '0', DEMO: '0', QUOTA_DEFAULT_LIMIT: '10000000', LOG_LEVEL: 'error' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  const request = (caller: number, turn: number): string => {
    const { token } = members[(caller + turn) % MEMBERS] as Member;
    return turn % PUBLISH_EVERY === 0
      ? publish(service.baseUrl, token, `Caller ${caller}, turn ${turn}`)
      : readPosts(service.baseUrl, token);
  };

  /** The responses to requests of `size` callers, sent in the initial burst and in the measured time after it. */
  async function responsesTo(size: number, behaviour = NO_PAUSE): Promise<Responses> {
    const callers = await ConcurrentCallers.connect(service.baseUrl, size);
    const burstEnd = performance.now() + BURST_MS;
    // The load continues for this long, so that the last measured requests are under load, too.
    const overrunMs = size === FEW ? 0 : QUEUE_TIMEOUT_MS;
    const responses = await callers.call(BURST_MS + MEASURE_MS + overrunMs, request, behaviour);
    callers.disconnect();
    for (const { status, retryAfter, durationMs } of responses) {
      expect(durationMs).toBeLessThan(MAX_RESPONSE_MS);
      if (status === 503) expect(retryAfter).toMatch(/^[123]$/);
      else expect([200, 201]).toContain(status);
    }
    return {
      burst: responses.filter(({ sentAt }) => sentAt <= burstEnd),
      settled: responses.filter(
        ({ sentAt }) => sentAt > burstEnd && sentAt < burstEnd + MEASURE_MS,
      ),
    };
  }

  /**
   * Many callers overload the service and disconnect. Then a few, connected before, begin to call. Returns the time until all
   * requests of the few are admitted, and the responses after the maximum recovery time.
   */
  async function recovery(): Promise<{ recoveryMs: number; recovered: RawResponse[] }> {
    const few = await ConcurrentCallers.connect(service.baseUrl, FEW);
    const many = await ConcurrentCallers.connect(service.baseUrl, MANY);
    // `many` disconnect only after the queue timeout: before that, the service is still in the initial burst, not in steady overload.
    // The disconnect interrupts their calls.
    const overload = many.call(2 * QUEUE_TIMEOUT_MS, request, IGNORE_RETRY_AFTER);
    await Promise.all([
      expect(overload).rejects.toThrow('closed'),
      sleep(QUEUE_TIMEOUT_MS).then(() => many.disconnect()),
    ]);
    const startedAt = performance.now();
    const responses = await few.call(MAX_RECOVERY_MS + MEASURE_MS, request, NO_PAUSE);
    few.disconnect();
    const rejected = responses.filter((response) => !isAdmitted(response));
    return {
      recoveryMs: Math.max(
        0,
        ...rejected.map(({ sentAt, durationMs }) => sentAt + durationMs - startedAt),
      ),
      recovered: responses.filter(({ sentAt }) => sentAt - startedAt > MAX_RECOVERY_MS),
    };
  }

  it(
    'each get a response in time, which may be 503 with Retry-After',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      await responsesTo(FEW);
      const { settled: first } = await responsesTo(FEW);
      // Half the rate of the same callers without pauses.
      const halfLoad = { ...NO_PAUSE, intervalMs: (2 * FEW * MEASURE_MS) / first.length };
      // Alternating, because the speed of a shared machine changes from second to second.
      const half: RawResponse[] = [];
      const full: RawResponse[] = [];
      const obeying: RawResponse[] = [];
      const ignoring: RawResponse[] = [];
      const bursts: RawResponse[] = [];
      let halfLoadCountOfLastRound = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const { settled: calm } = await responsesTo(FEW, halfLoad);
        half.push(...calm);
        full.push(...(await responsesTo(FEW)).settled);
        halfLoadCountOfLastRound = calm.length;
        const obeyingRound = await responsesTo(MANY);
        const ignoringRound = await responsesTo(MANY, IGNORE_RETRY_AFTER);
        obeying.push(...obeyingRound.settled);
        ignoring.push(...ignoringRound.settled);
        bursts.push(...obeyingRound.burst, ...ignoringRound.burst);
      }
      const { recoveryMs, recovered } = await recovery();
      const memory = await service.peakMemory();

      expect(half.filter((response) => !isAdmitted(response))).toEqual([]);
      for (const responses of [obeying, ignoring])
        expect(responses.filter(isAdmitted).length).toBeGreaterThan(MIN_GOODPUT * full.length);
      for (const responses of [obeying, ignoring])
        expect(latency(responses)).toBeLessThan(MAX_ADMITTED_MS);
      expect(latency(recovered)).toBeLessThan(MAX_SLOWDOWN * latency(half));
      // SQLite runs one statement at a time in the event loop, so deadlines fire late.
      const isServer = database.engine.kind !== 'sqlite';
      expect(latency(bursts)).toBeLessThan(isServer ? MAX_BURST_MS : MAX_RESPONSE_MS);
      expect(recoveryMs).toBeLessThan(MAX_RECOVERY_MS);
      expect(recovered.length).toBeGreaterThan(MIN_RECOVERED_RATE * halfLoadCountOfLastRound);
      expect(memory).toBeLessThan(MAX_MEMORY_MB);
      reportFigure(
        task,
        `${database.engine.label}: half load ${summaryOf(half, ROUNDS)}; full load ${summaryOf(full, ROUNDS)}; ${MANY} callers ${summaryOf(obeying, ROUNDS)}; ${MANY} callers that ignore Retry-After ${summaryOf(ignoring, ROUNDS)}; ${MANY} at the same moment: p99 ${Math.round(latency(bursts))} ms; ${memory} MB, recovered after ${(recoveryMs / 1000).toFixed(1)} s`,
      );
    },
  );
});

interface Responses {
  /** Responses to requests of the initial burst. */
  burst: RawResponse[];
  /** Responses to later requests. */
  settled: RawResponse[];
}

/** The 99th percentile of admitted requests, in milliseconds. */
function latency(responses: readonly RawResponse[]): number {
  return percentile(responses.filter(isAdmitted), 99);
}

function summaryOf(responses: readonly RawResponse[], rounds: number): string {
  const admitted = responses.filter(isAdmitted).length;
  const rate = Math.round((1000 * admitted) / (rounds * MEASURE_MS));
  return `${rate}/s, p99 ${Math.round(latency(responses))} ms, ${responses.length - admitted} × 503`;
}
