import { setTimeout as sleep } from 'node:timers/promises';
import { onOneServer, onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { show } from '../figures.js';
import { IS_QUICK, times } from '../../suite.js';
import type { RawResponse } from './caller.js';
import { Crowd, isAdmitted, type Behaviour, percentile } from './crowd.js';
import { publish, readPosts } from './requests.js';

const FEW = 48;
const MANY = 1000;
const MEMBERS = times(50, 10);
/** One in this many requests is a publish. */
const PUBLISHES = 4;
/** Duration of the initial burst, which is measured separately. */
const BURST_MS = 500;
/** Queue timeout. */
const MAX_WAIT_MS = 1000;
/** For a request that left the queue at the last moment. */
const MAX_ADMITTED_MS = MAX_WAIT_MS + 1000;
/** For a request of a thousand that arrive at the same moment: the last one is read late. */
const MAX_BURST_MS = MAX_ADMITTED_MS + 1000;
/** Longest response time, with slack. */
const MAX_RESPONSE_MS = 8000;
const ROUNDS = times(3, 1);
const MEASURE_MS = times(4000, 500);
const TEST_MS = times(150_000, 60_000);
/** Maximum factor by which requests are slower after recovery. A single short measurement is less exact. */
const SLOWER = times(5, 20);
const MAX_MEMORY_MB = 300;
const WELL_AGAIN_MS = 3000;
/** Minimum rate after recovery, as a part of the rate at half load. */
const WELL_AGAIN = 0.8;
/**
 * Minimum rate of admitted requests under overload, as a part of the rate of the best load. The callers run on the same
 * processors as the service, and a thousand of them take more of it than 48 do.
 */
const GOODPUT = times(0.6, 0.3);
const AT_ONCE: Behaviour = { everyMs: 0, isPatient: true };
/** These callers ignore `Retry-After`. */
const IN_A_HURRY: Behaviour = { everyMs: 0, isPatient: false };

(IS_QUICK ? onOneServer : onSqliteAndOneServer)('A thousand concurrent callers', (database) => {
  const operator = useTestApp(database);
  let service: ServiceProcess;
  let members: Member[];
  beforeAll(async () => {
    operator().clock.set(new Date().toISOString());
    const client = await operator().addClient();
    members = [];
    while (members.length < MEMBERS) members.push(await Member.join(operator(), { client }));
    const env = { MIGRATE: '0', DEMO: '0', QUOTA_DEFAULT_LIMIT: '10000000', LOG_LEVEL: 'error' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  const request = (caller: number, turn: number): string => {
    const { token } = members[(caller + turn) % MEMBERS] as Member;
    return turn % PUBLISHES === 0
      ? publish(service.baseUrl, token, `Caller ${caller}, turn ${turn}`)
      : readPosts(service.baseUrl, token);
  };

  /** The responses to `size` callers, without those that still wait when the callers disconnect. Few callers do not wait. */
  async function answersTo(size: number, behaviour = AT_ONCE): Promise<Responses> {
    const crowd = await Crowd.gather(service.baseUrl, size);
    const begun = performance.now() + BURST_MS;
    const rest = size === FEW ? 0 : MAX_WAIT_MS;
    const responses = await crowd.call(BURST_MS + MEASURE_MS + rest, request, behaviour);
    crowd.leave();
    for (const { status, retryAfter, took } of responses) {
      expect(took).toBeLessThan(MAX_RESPONSE_MS);
      if (status === 503) expect(retryAfter).toMatch(/^[123]$/);
      else expect([200, 201]).toContain(status);
    }
    return {
      burst: responses.filter(({ sentAt }) => sentAt <= begun),
      settled: responses.filter(({ sentAt }) => sentAt > begun && sentAt < begun + MEASURE_MS),
    };
  }

  /** After many callers disconnect: the time until all requests of few callers are admitted, and their responses after that. */
  async function recovery(): Promise<{ wellAfter: number; well: RawResponse[] }> {
    const crowd = await Crowd.gather(service.baseUrl, FEW);
    const many = await Crowd.gather(service.baseUrl, MANY);
    // Longer than the queue timeout: until then, this is a burst.
    const storm = many.call(2 * MAX_WAIT_MS, request, IN_A_HURRY);
    await Promise.all([
      expect(storm).rejects.toThrow('closed'),
      sleep(MAX_WAIT_MS).then(() => many.leave()),
    ]);
    const begun = performance.now();
    const responses = await crowd.call(WELL_AGAIN_MS + MEASURE_MS, request, AT_ONCE);
    crowd.leave();
    const rejected = responses.filter((response) => !isAdmitted(response));
    return {
      wellAfter: Math.max(0, ...rejected.map(({ sentAt, took }) => sentAt + took - begun)),
      well: responses.filter(({ sentAt }) => sentAt - begun > WELL_AGAIN_MS),
    };
  }

  it('get a response in time or 503 with Retry-After', { timeout: TEST_MS }, async ({ task }) => {
    await answersTo(FEW);
    const { settled: first } = await answersTo(FEW);
    const halfLoad = { ...AT_ONCE, everyMs: (2 * FEW * MEASURE_MS) / first.length };
    // Alternating, because the speed of a shared machine changes from second to second.
    const half: RawResponse[] = [];
    const best: RawResponse[] = [];
    const storm: RawResponse[] = [];
    const hurry: RawResponse[] = [];
    const bursts: RawResponse[] = [];
    let atHalf = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { settled: calm } = await answersTo(FEW, halfLoad);
      half.push(...calm);
      best.push(...(await answersTo(FEW)).settled);
      atHalf = calm.length;
      const patient = await answersTo(MANY);
      const hurried = await answersTo(MANY, IN_A_HURRY);
      storm.push(...patient.settled);
      hurry.push(...hurried.settled);
      bursts.push(...patient.burst, ...hurried.burst);
    }
    const { wellAfter, well } = await recovery();
    const memory = await service.peakMemory();

    expect(half.filter((response) => !isAdmitted(response))).toEqual([]);
    for (const responses of [storm, hurry])
      expect(responses.filter(isAdmitted).length).toBeGreaterThan(GOODPUT * best.length);
    for (const responses of [storm, hurry])
      expect(latency(responses)).toBeLessThan(MAX_ADMITTED_MS);
    expect(latency(well)).toBeLessThan(SLOWER * latency(half));
    // SQLite runs one statement at a time in the event loop, so deadlines fire late.
    const isServer = database.engine.kind !== 'sqlite';
    expect(latency(bursts)).toBeLessThan(isServer ? MAX_BURST_MS : MAX_RESPONSE_MS);
    expect(wellAfter).toBeLessThan(WELL_AGAIN_MS);
    expect(well.length).toBeGreaterThan(WELL_AGAIN * atHalf);
    expect(memory).toBeLessThan(MAX_MEMORY_MB);
    show(
      task,
      `${database.engine.label}: half load ${summaryOf(half, ROUNDS)}; best load ${summaryOf(best, ROUNDS)}; ${MANY} callers ${summaryOf(storm, ROUNDS)}; ${MANY} that ignore Retry-After ${summaryOf(hurry, ROUNDS)}; ${MANY} at the same moment: p99 ${Math.round(latency(bursts))} ms; ${memory} MB, recovered after ${(wellAfter / 1000).toFixed(1)} s`,
    );
  });
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
