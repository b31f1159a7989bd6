import { addMilliseconds, Clock, SECOND } from '../../../platform/clock.js';
import { extendedWindow, RACE_MS, repeatKind, REPLAY_MS, type TokenUse } from './rotation.js';

/*
 * An exhaustive search over schedules of requests, with the rules of rotation.ts. The server of the search stores what the database
 * stores; its processes have clocks of machines that differ, which they correct by a measurement (`Clock`).
 */

/** A measurement of the clock is off by at most this. */
const ERROR_MS = 100;
/** Within the documented two seconds, by any clock. */
const IN_RACE_MS = RACE_MS - 2 * ERROR_MS;
/** Beyond them, by any clock. */
const AFTER_RACE_MS = RACE_MS + 2 * ERROR_MS + 1;
const IN_WINDOW_MS = REPLAY_MS - 2 * ERROR_MS;
const AFTER_WINDOW_MS = REPLAY_MS + 2 * ERROR_MS + 1;

/** The clock of a process whose machine is ahead, and that measured this with an error. */
class ProcessClock extends Clock {
  constructor(
    private readonly trueTime: () => number,
    private readonly aheadMs: number,
    errorMs: number,
  ) {
    super();
    this.skewMs = aheadMs + errorMs;
  }

  override machineTime(): number {
    return this.trueTime() + this.aheadMs;
  }

  override monotonic(): Date {
    return new Date(this.trueTime());
  }
}

/** A refresh token, by its generation in the grant, from 0. */
interface Token extends Omit<TokenUse, 'consumedAt' | 'followsLateRepeat'> {
  consumedAt: Date | null;
}

type Response = 'refused' | { generation: number };

/** A grant of the server, which two processes serve. */
class Server {
  now = 0;
  revokedBy: string | undefined;
  readonly tokens: Token[] = [newToken()];
  private readonly clocks: readonly Clock[];

  constructor(skewMs: number) {
    this.clocks = [
      new ProcessClock(() => this.now, 0, ERROR_MS),
      new ProcessClock(() => this.now, skewMs, -ERROR_MS),
    ];
  }

  /** A refresh with the token of a generation, received by one of the processes. */
  refresh(generation: number, process: number): Response {
    const token = this.tokens[generation];
    if (!token || this.revokedBy !== undefined) return 'refused';
    const now = this.clocks[process % 2]?.now() ?? new Date(this.now);
    const predecessor = this.tokens[generation - 1];
    if (token.consumedAt === null) {
      token.consumedAt = now;
      token.responseExpiresAt = addMilliseconds(now, REPLAY_MS);
      if (predecessor) predecessor.responseExpiresAt = null;
      this.tokens.push(newToken());
      return { generation: generation + 1 };
    }
    const followsLateRepeat = predecessor?.replayedAt != null;
    const kind = repeatKind({ ...token, consumedAt: token.consumedAt, followsLateRepeat }, now);
    if (kind === 'reuse' || token.responseExpiresAt === null) {
      this.revokedBy = this.documentedReason(generation);
      return 'refused';
    }
    if (kind === 'late') {
      token.replayedAt = now;
      token.responseExpiresAt = extendedWindow(token.responseExpiresAt, now);
    }
    // Of a rule that would refuse a repeat, but not end the grant.
    if (kind !== 'late' && kind !== 'race') return 'refused';
    return { generation: generation + 1 };
  }

  /** `/oauth/revoke` with the access token that came with the refresh token of a generation. */
  revokeAccessToken(generation: number): void {
    const issuedBy = this.tokens[generation - 1];
    if (issuedBy) issuedBy.isAccessTokenRevoked = true;
  }

  /** The documented case that the repeat of a token is, whatever the rules say. */
  private documentedReason(generation: number): string {
    const { consumedAt, replayedAt, isAccessTokenRevoked } = this.tokens[generation] as Token;
    const age = (since: Date | null): number => this.now - Number(since ?? NaN) + 2 * ERROR_MS;
    if (isAccessTokenRevoked) return 'the access token was revoked';
    if (this.tokens[generation + 1]?.consumedAt) return 'the successor was used';
    if (age(consumedAt) > REPLAY_MS) return 'the retry window has ended';
    if (replayedAt && age(replayedAt) > RACE_MS) return 'a second late repeat';
    if (this.tokens[generation - 1]?.replayedAt && age(consumedAt) > RACE_MS)
      return 'late repeats of two generations in a row';
    return 'none';
  }
}

function newToken(): Token {
  const unused = { consumedAt: null, responseExpiresAt: null, replayedAt: null };
  return { ...unused, isAccessTokenRevoked: false };
}

/** All combinations of one value of each list. */
function* combinations<T extends readonly (readonly unknown[])[]>(
  ...[first, ...rest]: T
): Generator<{ [K in keyof T]: T[K][number] }> {
  type Combination = { [K in keyof T]: T[K][number] };
  if (!first) yield [] as unknown as Combination;
  else
    for (const value of first)
      for (const others of combinations(...rest))
        yield [value, ...others] as unknown as Combination;
}

/** Of two machines whose clocks are not synchronized. */
const SKEWS_MS = [0, 4600, -4600, 300 * SECOND];
const PROCESSES = [0, 1];

/** What the workers of an honest app do with one token. */
interface Generation {
  /** The second worker sends the token this long after the first; never if undefined. */
  secondAfterMs: number | undefined;
  /** Set if all responses were lost: when the late repeat comes, and when the second worker repeats after it. */
  late?: { afterMs: number; secondAfterMs: number | undefined };
  /** The process that receives the first request; the others alternate. */
  process: number;
}

const SECOND_WORKER = [undefined, 0, IN_RACE_MS];
/** Time until the next refresh: the shortest at which no worker still repeats the last one. */
const PAUSE_MS = AFTER_RACE_MS;

const GENERATIONS: Record<'received' | 'lost', Generation[]> = {
  received: [...combinations(SECOND_WORKER, PROCESSES)].map(([secondAfterMs, process]) => ({
    secondAfterMs,
    process,
  })),
  lost: [
    ...combinations(SECOND_WORKER, [AFTER_RACE_MS, IN_WINDOW_MS], SECOND_WORKER, PROCESSES),
  ].map(([secondAfterMs, afterMs, lateSecond, process]) => ({
    secondAfterMs,
    late: { afterMs, secondAfterMs: lateSecond },
    process,
  })),
};

/** Runs one generation. Returns the generation of the token that the app then has. */
function refreshAsApp(server: Server, generation: number, plan: Generation): number {
  let { process } = plan;
  const start = server.now;
  const results: Response[] = [];
  const send = (atMs: number | undefined): void => {
    if (atMs === undefined) return;
    server.now = start + atMs;
    results.push(server.refresh(generation, process));
    process += 1;
  };
  send(0);
  send(plan.secondAfterMs);
  if (plan.late) {
    const { afterMs, secondAfterMs } = plan.late;
    send(afterMs);
    if (secondAfterMs !== undefined) send(afterMs + secondAfterMs);
  }
  server.now += PAUSE_MS;
  if (results.some((result) => result === 'refused')) return Number.NaN;
  return generation + 1;
}

/** The first schedule that `isAllowed` rejects, and the number of schedules that were tried. */
function search<T>(
  schedules: Iterable<T>,
  isAllowed: (schedule: T) => boolean,
): { tried: number; rejected?: T } {
  let tried = 0;
  for (const schedule of schedules) {
    tried += 1;
    if (!isAllowed(schedule)) return { tried, rejected: schedule };
  }
  return { tried };
}

/** Three generations, of which no two consecutive ones lose their responses. */
function* honestSchedules(plans: readonly Generation[] = []): Generator<readonly Generation[]> {
  if (plans.length === 3) yield plans;
  else {
    const isAfterLoss = plans.at(-1)?.late !== undefined;
    const next = isAfterLoss
      ? GENERATIONS.received
      : [...GENERATIONS.received, ...GENERATIONS.lost];
    for (const plan of next) yield* honestSchedules([...plans, plan]);
  }
}

/** What a thief does who has the token of a generation. */
const THEFTS = combinations(
  // The generation.
  [0, 1],
  // Whether before the app.
  [true, false],
  // What else.
  ['nothing', 'revokes', 'refreshes again', 'refreshes again and revokes', 'follows the app'],
  // The time to the next request of the app, and after it.
  [AFTER_RACE_MS, IN_WINDOW_MS, AFTER_WINDOW_MS],
  [AFTER_RACE_MS, IN_WINDOW_MS, AFTER_WINDOW_MS, 3600 * SECOND],
  PROCESSES,
  SKEWS_MS,
);

/** Whether a thief is out after two refreshes of the app. */
function excludesThief([stolen, isFirst, deed, gapMs, pauseMs, process, skewMs]: [
  number,
  boolean,
  string,
  number,
  number,
  number,
  number,
]): boolean {
  const server = new Server(skewMs);
  /** The generations of the newest tokens that the app and the thief have. */
  const newest = { app: 0, thief: stolen };
  const refresh = (generation: number): number => {
    const response = server.refresh(generation, process + server.tokens.length);
    return response === 'refused' ? generation : response.generation;
  };
  const refreshOnce = (): void => {
    newest.app = refresh(newest.app);
    server.now += pauseMs;
  };
  const refreshAsThief = (): void => {
    newest.thief = refresh(newest.thief);
    server.now += gapMs;
  };
  for (let before = isFirst ? 0 : -1; before < stolen; before += 1) refreshOnce();
  refreshAsThief();
  if (deed.startsWith('refreshes again')) refreshAsThief();
  if (deed.endsWith('revokes')) server.revokeAccessToken(newest.thief);
  for (let refreshes = 0; refreshes < 2; refreshes += 1) {
    refreshOnce();
    if (deed === 'follows the app') refreshAsThief();
  }
  // Whatever the thief sends now gets no tokens. The newest token first, because an older one could end the grant.
  for (let generation = newest.thief; generation >= 0; generation -= 1)
    if (refresh(generation) !== generation) return false;
  return true;
}

/** The generation of a request, counted back from the newest token, or a revocation; and the time before it. */
const STEPS = [
  ...combinations([0, 1, 2, 'revoke'] as const, [
    0,
    IN_RACE_MS,
    AFTER_RACE_MS,
    IN_WINDOW_MS,
    AFTER_WINDOW_MS,
  ]),
];

/** Why a schedule ends the grant; undefined if it does not. The processes alternate. */
function endOf(schedule: readonly (typeof STEPS)[number][]): string | undefined {
  const server = new Server(4600);
  for (const [process, [back, afterMs]] of schedule.entries()) {
    server.now += afterMs;
    const newest = server.tokens.length - 1;
    if (back === 'revoke') server.revokeAccessToken(newest);
    else if (newest >= back) server.refresh(newest - back, process);
  }
  return server.revokedBy;
}

describe('Rotation of refresh tokens', () => {
  it('never locks out an honest app whose responses are lost in at most one of two consecutive generations', () => {
    for (const skewMs of SKEWS_MS) {
      const { tried, rejected } = search(honestSchedules(), (plans) => {
        const server = new Server(skewMs);
        let generation = 0;
        for (const plan of plans) generation = refreshAsApp(server, generation, plan);
        return generation === plans.length && server.revokedBy === undefined;
      });
      expect(rejected, `clocks ${skewMs} ms apart`).toBeUndefined();
      expect(tried).toBeGreaterThan(10_000);
    }
  });

  it('excludes a thief who is not within two seconds of the app after at most two of its refreshes', () => {
    const { tried, rejected } = search(THEFTS, excludesThief);
    expect(rejected).toBeUndefined();
    expect(tried).toBeGreaterThan(1000);
  });

  it('ends a grant in the documented cases only', () => {
    const ends = new Set<string | undefined>();
    const { rejected } = search(combinations(STEPS, STEPS, STEPS, STEPS), (schedule) => {
      const end = endOf(schedule);
      ends.add(end);
      return end !== 'none';
    });
    expect(rejected).toBeUndefined();
    expect([...ends].toSorted()).toEqual([
      'a second late repeat',
      'late repeats of two generations in a row',
      'the access token was revoked',
      'the retry window has ended',
      'the successor was used',
      undefined,
    ]);
  });
});
