import { setTimeout as sleep } from 'node:timers/promises';
import { onOneServer, onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { show } from '../figures.js';
import { IS_QUICK, times } from '../../suite.js';
import type { RawAnswer } from './caller.js';
import { Crowd, isAdmitted, type Manners, percentile } from './crowd.js';
import { publish, readPosts } from './requests.js';

const FEW = 48;
const MANY = 1000;
const MEMBERS = times(50, 10);
/** One request of so many publishes. */
const PUBLISHES = 4;
/** In which all come at the same moment: such a burst is worked off, and told apart. */
const BURST_MS = 500;
/** Until somebody who waits outside is refused. */
const LONGEST_WAIT_MS = 3000;
/** Whoever was let in at the last moment, and then answered. */
const LONGEST_BURST_MS = LONGEST_WAIT_MS + 1000;
/** As long as one may wait for a turn, and some more. */
const LONGEST_ANSWER_MS = 8000;
const ROUNDS = times(3, 1);
const MEASURE_MS = times(4000, 500);
const TEST_MS = times(150_000, 60_000);
/** How much slower those are answered who are let in. A single short measurement tells less. */
const SLOWER = times(5, 20);
const MOST_MEMORY_MB = 300;
const WELL_AGAIN_MS = 3000;
/** Of the answers at half load shortly before: as many as can be answered are twice those. */
const WELL_AGAIN = 0.8;
/** Of the answers at half load by turns with them: so many are let in at the least, however many are refused. */
const LET_IN = 0.5;
const AT_ONCE: Manners = { everyMs: 0, isPatient: true };
/** Nor do they wait when they are told to. */
const IN_A_HURRY: Manners = { everyMs: 0, isPatient: false };

(IS_QUICK ? onOneServer : onSqliteAndOneServer)('A thousand callers', (database) => {
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

  /** What so many are answered, but for those who wait when the others leave. Of few, nobody waits for long. */
  async function answersTo(size: number, manners = AT_ONCE): Promise<Answers> {
    const crowd = await Crowd.gather(service.baseUrl, size);
    const begun = performance.now() + BURST_MS;
    const rest = size === FEW ? 0 : LONGEST_WAIT_MS;
    const answers = await crowd.call(BURST_MS + MEASURE_MS + rest, request, manners);
    crowd.leave();
    for (const { status, retryAfter, took } of answers) {
      expect(took).toBeLessThan(LONGEST_ANSWER_MS);
      if (status === 503) expect(retryAfter).toMatch(/^[123]$/);
      else expect([200, 201]).toContain(status);
    }
    return {
      burst: answers.filter(({ sentAt }) => sentAt <= begun),
      settled: answers.filter(({ sentAt }) => sentAt > begun && sentAt < begun + MEASURE_MS),
    };
  }

  /** How long it takes, once many have hung up, until all of so few are let in again, and what they are answered then. */
  async function recovery(): Promise<{ wellAfter: number; well: RawAnswer[] }> {
    const crowd = await Crowd.gather(service.baseUrl, FEW);
    const many = await Crowd.gather(service.baseUrl, MANY);
    // Longer than anybody waits: before that, they are a burst.
    const storm = many.call(2 * LONGEST_WAIT_MS, request, IN_A_HURRY);
    await Promise.all([
      expect(storm).rejects.toThrow('closed'),
      sleep(LONGEST_WAIT_MS).then(() => many.leave()),
    ]);
    const begun = performance.now();
    const answers = await crowd.call(WELL_AGAIN_MS + MEASURE_MS, request, AT_ONCE);
    crowd.leave();
    const refused = answers.filter((answer) => !isAdmitted(answer));
    return {
      wellAfter: Math.max(0, ...refused.map(({ sentAt, took }) => sentAt + took - begun)),
      well: answers.filter(({ sentAt }) => sentAt - begun > WELL_AGAIN_MS),
    };
  }

  it('are answered in time or told when to come back', { timeout: TEST_MS }, async ({ task }) => {
    await answersTo(FEW);
    const { settled: full } = await answersTo(FEW);
    const halfLoad = { ...AT_ONCE, everyMs: (2 * FEW * MEASURE_MS) / full.length };
    // By turns, because the speed of a machine that others use changes from second to second.
    const half: RawAnswer[] = [];
    const storm: RawAnswer[] = [];
    const hurry: RawAnswer[] = [];
    const bursts: RawAnswer[] = [];
    let atHalf = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { settled: calm } = await answersTo(FEW, halfLoad);
      half.push(...calm);
      atHalf = calm.length;
      const patient = await answersTo(MANY);
      const hurried = await answersTo(MANY, IN_A_HURRY);
      storm.push(...patient.settled);
      hurry.push(...hurried.settled);
      bursts.push(...patient.burst, ...hurried.burst);
    }
    const { wellAfter, well } = await recovery();
    const memory = await service.peakMemory();

    const slower = latency(storm) / latency(half);
    const hurriedSlower = latency(hurry) / latency(half);
    expect(half.filter((answer) => !isAdmitted(answer))).toEqual([]);
    for (const answers of [storm, hurry])
      expect(answers.filter(isAdmitted).length).toBeGreaterThan(LET_IN * half.length);
    expect(slower).toBeLessThan(SLOWER);
    expect(hurriedSlower).toBeLessThan(SLOWER);
    expect(latency(well)).toBeLessThan(SLOWER * latency(half));
    expect(latency(bursts)).toBeLessThan(LONGEST_BURST_MS);
    expect(wellAfter).toBeLessThan(WELL_AGAIN_MS);
    expect(well.length).toBeGreaterThan(WELL_AGAIN * atHalf);
    expect(memory).toBeLessThan(MOST_MEMORY_MB);
    show(
      task,
      `${database.engine.label}: half load ${told(half, ROUNDS)}; ${MANY} callers ${told(storm, ROUNDS)}, ${slower.toFixed(1)} times as long; ${MANY} in a hurry ${told(hurry, ROUNDS)}, ${hurriedSlower.toFixed(1)} times as long; ${MANY} at the same moment: p99 ${Math.round(latency(bursts))} ms; ${memory} MB, well again after ${(wellAfter / 1000).toFixed(1)} s`,
    );
  });
});

interface Answers {
  /** To those who come at the same moment. */
  burst: RawAnswer[];
  /** To those who come after that. */
  settled: RawAnswer[];
}

/** Of those who were let in: what 99 of 100 have at most, in milliseconds. */
function latency(answers: readonly RawAnswer[]): number {
  return percentile(answers.filter(isAdmitted), 99);
}

function told(answers: readonly RawAnswer[], rounds: number): string {
  const admitted = answers.filter(isAdmitted).length;
  const rate = Math.round((1000 * admitted) / (rounds * MEASURE_MS));
  return `${rate}/s, p99 ${Math.round(latency(answers))} ms, ${answers.length - admitted} × 503`;
}
