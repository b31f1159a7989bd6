import { startProcess, type AppProcess } from '../../support/app-process.js';
import { onOneServer, onSqliteAndOneServer } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from '../../e2e/api/member.js';
import { show } from '../figures.js';
import { IS_QUICK, times } from '../promises.js';
import { Caller, type RawAnswer } from './caller.js';
import { Crowd, isAdmitted, percentile, type Manners } from './crowd.js';
import { publish, readPosts } from './requests.js';

const FEW = 48;
const MANY = 1000;
const MEMBERS = 50;
/** One request of so many publishes. */
const PUBLISHES = 4;
/** In which all come at the same moment. */
const SETTLE_MS = times(2000, 1000);
const ROUNDS = times(3, 1);
const MEASURE_MS = times(4000, 1500);
const TEST_MS = times(150_000, 60_000);
/** How much slower those are answered who are let in. A single short measurement tells less. */
const SLOWER = times(5, 20);
const MOST_MEMORY_MB = 300;
const WELL_AGAIN_MS = 3000;
const AT_ONCE: Manners = { everyMs: 0, isPatient: true };

(IS_QUICK ? onOneServer : onSqliteAndOneServer)('A thousand callers', (database) => {
  const operator = useTestApp(database);
  let service: AppProcess;
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

  /** What so many are answered, but for the time in which they settle. */
  async function answersTo(size: number, manners = AT_ONCE): Promise<RawAnswer[]> {
    const crowd = await Crowd.gather(service.baseUrl, size);
    const settled = performance.now() + SETTLE_MS;
    const answers = await crowd.call(SETTLE_MS + MEASURE_MS, request, manners);
    crowd.leave();
    for (const { status, retryAfter } of answers) {
      if (status === 503) expect(retryAfter).toMatch(/^[123]$/);
      else expect([200, 201]).toContain(status);
    }
    return answers.filter(({ sentAt }) => sentAt > settled);
  }

  /** How long it takes until everybody is let in again. */
  async function recovery(): Promise<number> {
    const begun = performance.now();
    const caller = await Caller.connect(service.baseUrl);
    let answer: RawAnswer;
    let turn = 0;
    do answer = await caller.send(request(0, (turn += 1)));
    while (!isAdmitted(answer) && performance.now() - begun < WELL_AGAIN_MS);
    caller.close();
    return performance.now() - begun;
  }

  it('are answered in time or told when to come back', { timeout: TEST_MS }, async ({ task }) => {
    await answersTo(FEW);
    const full = await answersTo(FEW);
    const halfLoad = { ...AT_ONCE, everyMs: (2 * FEW * MEASURE_MS) / full.length };
    // By turns, because the speed of a machine that others use changes from second to second.
    const rounds: Round[] = [];
    while (rounds.length < ROUNDS) {
      const half = await answersTo(FEW, halfLoad);
      const storm = await answersTo(MANY);
      rounds.push({ half, storm, slower: latency(storm) / latency(half) });
    }
    const hurry = await answersTo(MANY, { ...AT_ONCE, isPatient: false });
    const wellAfter = await recovery();
    const memory = await service.peakMemory();

    const { half, storm, slower } = median(rounds);
    expect(slower).toBeLessThan(SLOWER);
    expect(wellAfter).toBeLessThan(WELL_AGAIN_MS);
    expect(memory).toBeLessThan(MOST_MEMORY_MB);
    show(
      task,
      `${database.engine.label}: half load ${told(half)}; ${MANY} callers ${told(storm)}, ${slower.toFixed(1)} times as long; ${MANY} in a hurry ${told(hurry)}; ${memory} MB, well again after ${(wellAfter / 1000).toFixed(1)} s`,
    );
  });
});

interface Round {
  half: RawAnswer[];
  storm: RawAnswer[];
  /** How many times as long those take who are let in. */
  slower: number;
}

function median(rounds: readonly Round[]): Round {
  const sorted = rounds.toSorted((one, other) => one.slower - other.slower);
  return sorted[Math.floor(sorted.length / 2)] as Round;
}

/** Of those who were let in: what 99 of 100 have at most, in milliseconds. */
function latency(answers: readonly RawAnswer[]): number {
  return percentile(answers.filter(isAdmitted), 99);
}

function told(answers: readonly RawAnswer[]): string {
  const admitted = answers.filter(isAdmitted).length;
  const rate = Math.round((1000 * admitted) / MEASURE_MS);
  return `${rate}/s, p99 ${Math.round(latency(answers))} ms, ${answers.length - admitted} × 503`;
}
