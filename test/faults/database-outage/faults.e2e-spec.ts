import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { BreakableServer } from './breakable-server.js';
import { type Call, callsOf } from './calls.js';
import { FAULTS } from './faults.js';

const DB_TIMEOUT_MS = 1000;
/** Connect timeout, statement timeout, two seconds for an unresponsive server, and slack. */
const MAX_RESPONSE_MS = 2 * DB_TIMEOUT_MS + 2000 + 1000;
const MAX_RECOVERY_MS = 5000;
const PAUSE_MS = 20;
const FAULT_MS = byExtent({ whole: 2000, quick: 500 });
/** Open connections fail in the first round, new connections in the second. */
const MIN_ROUNDS = byExtent({ whole: 2, quick: 1 });
const TEST_TIMEOUT_MS = 90_000;

onEachServer('Database that', ({ engine }) => {
  let database: BreakableServer | undefined;
  let served: StartedService;
  let member: Member;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
    if (database === undefined) return;
    const { url, adminUrl } = database;
    const env = {
      DB_TIMEOUT_MS: String(DB_TIMEOUT_MS),
      DB_POOL_SIZE: '4',
      QUOTA_DEFAULT_LIMIT: '1000000',
    };
    served = await startService({ url, directUrl: adminUrl, env });
    member = await Member.join(served.app);
  }, 180_000);
  afterAll(() =>
    cleanUp(
      () => served?.stop(),
      () => database?.stop(),
    ),
  );

  /** Sends the call again until the response is not 503, or the recovery takes too long. */
  async function retry({ name, send }: Call): Promise<{ name: string; status: number }> {
    const until = performance.now() + MAX_RECOVERY_MS;
    for (;;) {
      const { status } = await send();
      if (status !== 503 || performance.now() > until) return { name, status };
      await sleep(PAUSE_MS);
    }
  }

  it.for(FAULTS.filter(({ only = engine.kind }) => only === engine.kind))(
    'C113 $title: the service returns 503 in time, never invalid_grant, and recovers by itself',
    { timeout: TEST_TIMEOUT_MS },
    async (fault, { task, skip }) => {
      if (database === undefined) return skip();
      const calls = await callsOf(served.app, member);
      await fault.begin(database);
      const until = performance.now() + FAULT_MS;
      let slowest = 0;
      let rejected = 0;
      let rounds = 0;
      try {
        do {
          await Promise.all(
            calls.map(async ({ name, isRead, send }) => {
              const startedAt = performance.now();
              const { status, retryAfter, text } = await send();
              const ms = performance.now() - startedAt;
              slowest = Math.max(slowest, ms);
              expect(ms, name).toBeLessThan(MAX_RESPONSE_MS);
              if (fault.someReadsSucceed && isRead && status === 200) return;
              if (fault.readsSucceed && isRead) return expect([name, status]).toEqual([name, 200]);
              expect({ name, status, text }).toMatchObject({ name, status: 503 });
              expect(retryAfter).toMatch(/^[1-9]\d*$/);
              rejected += 1;
            }),
          );
          rounds += 1;
          await sleep(PAUSE_MS);
        } while (rounds < MIN_ROUNDS || performance.now() < until);
      } finally {
        await fault.end(database);
      }
      const endedAt = performance.now();
      // Codes, tokens and forms that got a 503 are still valid.
      expect(await Promise.all(calls.map(retry))).toEqual(
        calls.map(({ name, expected }) => ({ name, status: expected })),
      );
      const recoveryMs = performance.now() - endedAt;
      expect(recoveryMs).toBeLessThan(MAX_RECOVERY_MS);
      reportFigure(
        task,
        `${engine.label} ${fault.title}: ${rejected} × 503 within ${(slowest / 1000).toFixed(1)} s, recovered after ${(recoveryMs / 1000).toFixed(1)} s`,
      );
    },
  );
});
