import { setTimeout as sleep } from 'node:timers/promises';
import { granted, sendForm } from '../../support/granted.js';
import { onEachServer } from '../../support/engines.js';
import { TestApp } from '../../support/test-app.js';
import { approve, exchange } from '../../support/visitor.js';
import { Member } from '../../e2e/api/member.js';
import { show } from '../figures.js';
import { times } from '../promises.js';
import { BreakableServer } from './breakable-server.js';
import { FAULTS } from './faults.js';

const DB_TIMEOUT_MS = 1000;
/** A second for a turn, one for a connection, three for a statement of a server that says nothing, and one for a slow machine. */
const LONGEST_ANSWER_MS = 6000;
const LONGEST_RECOVERY_MS = 5000;
const ALL_WELL = [200, 200, 201, 200, 200, 200];
const FAULT_MS = times(4000, 1000);
const TEST_MS = 90_000;

interface Call {
  name: string;
  isRead: boolean;
  send: () => Promise<Response>;
}

onEachServer('A database that', ({ engine }) => {
  let database: BreakableServer | undefined;
  let app: TestApp;
  let member: Member;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
    if (database === undefined) return;
    const env = { DB_TIMEOUT_MS: String(DB_TIMEOUT_MS), DB_POOL_SIZE: '4' };
    app = await TestApp.start({ url: database.url }, { ...env, QUOTA_DEFAULT_LIMIT: '1000000' });
    member = await Member.join(app);
  }, 120_000);
  afterAll(async () => {
    await app?.stop();
    await database?.stop();
  });

  /** Of each kind one, with a code and a refresh token that are good. */
  async function calls(): Promise<Call[]> {
    const { client } = member;
    const code = (await approve(app, await app.addUser(), client)).get('code') ?? '';
    const { refresh_token } = await granted(app, client);
    const form = (path: string, fields: Record<string, string>) => () =>
      sendForm(app, path, client, fields);
    return [
      { name: 'GET /me', isRead: true, send: () => member.get('/me') },
      { name: 'GET /posts', isRead: true, send: () => member.get('/posts') },
      { name: 'POST /posts', isRead: false, send: () => member.post('/posts', { content: 'Hi' }) },
      { name: 'exchange', isRead: false, send: () => exchange(app, client, code) },
      {
        name: 'refresh',
        isRead: false,
        send: form('/oauth/token', { grant_type: 'refresh_token', refresh_token }),
      },
      {
        name: 'introspection',
        isRead: true,
        send: form('/oauth/introspect', { token: refresh_token }),
      },
    ];
  }

  const statusesOf = async (some: readonly Call[]): Promise<number[]> => {
    const answers = await Promise.all(some.map(({ send }) => send()));
    return answers.map(({ status }) => status);
  };

  async function timed(send: () => Promise<Response>): Promise<{ answer: Response; ms: number }> {
    const startedAt = performance.now();
    const answer = await send();
    return { answer, ms: performance.now() - startedAt };
  }

  it.for(FAULTS.filter(({ only = engine.kind }) => only === engine.kind))(
    '$title is a 503 in time, never invalid_grant, and the service recovers by itself',
    { timeout: TEST_MS },
    async (fault, { task, skip }) => {
      if (database === undefined) return skip();
      const broken = await calls();
      await fault.begin(database);
      const until = performance.now() + FAULT_MS;
      let slowest = 0;
      let refused = 0;
      try {
        do {
          const answers = await Promise.all(
            broken.map(async ({ name, isRead, send }) => ({
              name,
              isRead,
              ...(await timed(send)),
            })),
          );
          for (const { name, isRead, answer, ms } of answers) {
            slowest = Math.max(slowest, ms);
            expect(ms).toBeLessThan(LONGEST_ANSWER_MS);
            if (fault.little && isRead && answer.status === 200) continue;
            if (fault.reads && isRead) {
              expect({ name, status: answer.status }).toEqual({ name, status: 200 });
              continue;
            }
            const text = await answer.text();
            expect({ name, status: answer.status, text }).toMatchObject({ name, status: 503 });
            expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
            refused += 1;
          }
          await sleep(20);
        } while (performance.now() < until);
      } finally {
        await fault.end(database);
      }
      const endedAt = performance.now();
      await expect
        .poll(async () => statusesOf(await calls()), { timeout: LONGEST_RECOVERY_MS })
        .toEqual(ALL_WELL);
      const recoveryMs = performance.now() - endedAt;
      expect(recoveryMs).toBeLessThan(LONGEST_RECOVERY_MS);
      // The codes and tokens that were told to come back are as good as before.
      expect(await statusesOf(broken)).toEqual(ALL_WELL);
      show(
        task,
        `${engine.label} ${fault.title}: ${refused} × 503 within ${(slowest / 1000).toFixed(1)} s, well after ${(recoveryMs / 1000).toFixed(1)} s`,
      );
    },
  );
});
