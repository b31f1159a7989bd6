import { addMilliseconds } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
import { AccessToken, Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import {
  TrustedDevice,
  RateLimitHit,
} from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { Prune } from '../../src/modules/operations/retention.js';
import { approve, exchange, sendRefresh } from '../support/oauth-flow.js';
import { deleteAllRows } from '../support/fixtures.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { rateLimits, type TestApp, UNLIMITED, useTestApp } from '../support/test-app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** For each table, a function that returns its entity and a row that has expired at `now`. Each number results in another row. */
const EXPIRED_ROWS: Record<string, (number: number, now: Date) => [new () => object, object]> = {
  access_tokens: (number, now) => [
    AccessToken,
    {
      hash: sha256(`access ${number}`),
      grantId: 'grt_none',
      scope: 'posts.read',
      createdAt: now,
      expiresAt: addMilliseconds(now, -HOUR - number),
    },
  ],
  throttle_hits: (number, now) => [
    RateLimitHit,
    {
      hash: sha256(`hit ${number % 7}`),
      slot: addMilliseconds(now, -2 * DAY - number * 15_000),
      hits: 1,
    },
  ],
  known_browsers: (number, now) => [
    TrustedDevice,
    {
      browserHash: sha256(`browser ${number}`),
      phone: '+14155550101',
      signedInAt: addMilliseconds(now, -400 * DAY - number),
    },
  ],
};

async function insertExpired(app: TestApp, table: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) =>
    EXPIRED_ROWS[table]?.(number, app.clock.now()),
  );
  for (let from = 0; from < count; from += 500) {
    const batch = rows.slice(from, from + 500).flatMap((row) => row?.slice(1) ?? []);
    await app.dataSource.manager.insert(rows[0]?.[0] ?? '', batch);
  }
}

onOneEngine('Prune: runs', (database) => {
  // One test refreshes a few grants without a pause.
  const env = rateLimits({ 'grant-refreshes-per-hour': UNLIMITED });
  const firstApp = useTestApp(database, env);
  const secondApp = useTestApp(database, env);

  // On SQLite two connections of one process would wait for each other until the busy timeout.
  const processes = () =>
    database.engine.kind === 'sqlite' ? [firstApp(), firstApp()] : [firstApp(), secondApp()];

  beforeEach(async () => {
    for (const app of [firstApp(), secondApp()]) app.clock.set('2026-11-21T09:30:00.000Z');
    await deleteAllRows(firstApp().dataSource);
  });

  it.each(Object.keys(EXPIRED_ROWS))(
    'O142 deletes at most a thousand rows of %s in a transaction',
    async (table) => {
      await insertExpired(firstApp(), table, 2100);
      const deletedByTransaction: number[] = [];
      const { manager } = firstApp().dataSource;
      const entity = EXPIRED_ROWS[table]?.(0, new Date())[0] ?? '';
      const statements = await firstApp().statementsOf(() => firstApp().service(Prune).run());
      for (const statement of statements) {
        if (/^(START|BEGIN)/.test(statement)) deletedByTransaction.push(0);
        if (statement.startsWith('DELETE'))
          deletedByTransaction.push((deletedByTransaction.pop() ?? 0) + keysIn(statement));
      }
      expect(deletedByTransaction).toEqual([1000, 1000, 100]);
      expect(await manager.count(entity)).toBe(0);
    },
  );

  it('O142 stops at its deadline, and a later run deletes the remaining rows', async () => {
    await insertExpired(firstApp(), 'known_browsers', 10);
    const { dataSource, clock } = firstApp();
    const deadline = clock.now();
    expect(await firstApp().service(Prune).run({ stopAt: deadline })).toMatchObject({
      known_browsers: 0,
    });
    expect(
      await firstApp()
        .service(Prune)
        .run({ stopAt: addMilliseconds(deadline, 1) }),
    ).toMatchObject({
      known_browsers: 10,
    });
    expect(await dataSource.manager.count(TrustedDevice)).toBe(0);
  });

  it('O142 deletes each row once in two concurrent manual runs', async () => {
    await insertExpired(firstApp(), 'access_tokens', 2100);
    await insertExpired(firstApp(), 'throttle_hits', 2100);
    const runs = await Promise.all(processes().map((app) => app.service(Prune).run()));
    const sum = (table: string): number =>
      runs.reduce((total, tables) => total + (tables[table] ?? 0), 0);
    expect([sum('access_tokens'), sum('throttle_hits')]).toEqual([2100, 2100]);
    expect(await firstApp().service(Prune).run()).toMatchObject({
      access_tokens: 0,
      throttle_hits: 0,
    });
  });

  it('O142 does not disturb concurrent refreshes and sign-ins', async () => {
    const client = await firstApp().addClient();
    const code = async (): Promise<string> =>
      (await approve(firstApp(), await firstApp().addUser(), client)).get('code') ?? '';
    for (let number = 1; number <= 4; number += 1) await exchange(firstApp(), client, await code());
    for (const { id } of await firstApp().dataSource.manager.find(Grant, { take: 2 }))
      await firstApp().dataSource.manager.update(Grant, { id }, { revokedAt: new Date(0) });
    for (const table of Object.keys(EXPIRED_ROWS)) await insertExpired(firstApp(), table, 1100);
    const members = await Promise.all(
      Array.from({ length: 3 }, async () =>
        json<TokenBody>(await exchange(firstApp(), client, await code())),
      ),
    );
    const stop = new AbortController();
    const pruning = Promise.all(processes().map((app) => app.service(Prune).run())).finally(() => {
      stop.abort();
    });
    let refreshes = 0;
    const refreshing = members.map(async ({ refresh_token }) => {
      for (let current = refresh_token; !stop.signal.aborted; refreshes += 1) {
        const response = await sendRefresh(firstApp(), client, current);
        expect(response.status).toBe(200);
        const next = await json<TokenBody>(response);
        expect((await firstApp().call(next.access_token, 'GET', '/me')).status).toBe(200);
        current = next.refresh_token;
      }
    });
    await expect(exchange(firstApp(), client, await code())).resolves.toMatchObject({
      status: 200,
    });
    await Promise.all([pruning, ...refreshing]);
    expect(refreshes).toBeGreaterThan(members.length);
    expect(await firstApp().dataSource.manager.countBy(AccessToken, { grantId: 'grt_none' })).toBe(
      0,
    );
  });
});

/** The number of keys in a DELETE statement. */
function keysIn(statement: string): number {
  const [list = ''] = /\bIN ?\([?, ]+\)/.exec(statement) ?? [];
  return list === '' ? statement.split(' OR ').length : list.split('?').length - 1;
}
