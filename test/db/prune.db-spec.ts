import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { later } from '../../src/common/clock.js';
import { sha256 } from '../../src/common/secrets.js';
import { IdempotencyKey } from '../../src/idempotency/idempotency-key.entity.js';
import { Authorization } from '../../src/modules/oauth/authorize/authorization.entity.js';
import { Grant } from '../../src/modules/oauth/grants/grant.entity.js';
import { KnownBrowser } from '../../src/modules/oauth/sign-in/known-browser.entity.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/otp-failures.entity.js';
import { SignInSession } from '../../src/modules/oauth/sign-in/sign-in-session.entity.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import { AccessToken } from '../../src/modules/oauth/token/access-token.entity.js';
import { AuthorizationCode } from '../../src/modules/oauth/token/authorization-code.entity.js';
import { RefreshToken } from '../../src/modules/oauth/token/refresh-token.entity.js';
import { JobRun } from '../../src/operations/job-run.entity.js';
import { hourOf } from '../../src/operations/jobs/job-runs.repository.js';
import { Prune, PRUNE } from '../../src/operations/jobs/prune.service.js';
import { onEachEngine } from '../support/engines.js';
import { scansOf } from '../support/query-plan.js';
import { useTestApp } from '../support/test-app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ROWS = 3000;

interface Search {
  query: string;
  parameters: unknown[];
}

onEachEngine('The searches of pruning', (database) => {
  const app = useTestApp(database);
  const isSqlite = database.engine.kind === 'sqlite';

  async function fill<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    row: (number: number, hash: string) => ObjectLiteral,
  ): Promise<void> {
    const rows = Array.from({ length: ROWS }, (_, number) => row(number, sha256(String(number))));
    for (let from = 0; from < ROWS; from += 500)
      await app().dataSource.manager.insert(entity, rows.slice(from, from + 500) as T[]);
  }

  /** Mostly rows that stay, as in a service that prunes every hour. */
  async function fillAll(): Promise<void> {
    const now = app().clock.now();
    const dayAgo = later(now, -DAY);
    const live = { createdAt: dayAgo, expiresAt: later(now, DAY) };
    const common = { clientId: 'svc_app_x', scope: 'posts.read', redirectUri: 'x:/', state: 's' };
    const ends = [{ revokedAt: dayAgo }, { expiresAt: dayAgo }];
    await fill(Grant, (number) => ({
      ...live,
      ...common,
      id: `grt_${number}`,
      userId: `usr_${number}`,
      requestedScope: common.scope,
      ...ends[number % 100],
    }));
    const token = (number: number, hash: string) => ({ ...live, hash, grantId: `grt_${number}` });
    const used = { consumedAt: dayAgo, expiresAt: dayAgo, redirectUri: 'x:/' };
    await fill(AccessToken, (number, hash) => ({ ...token(number, hash), ...common }));
    await fill(RefreshToken, (number, hash) => ({ ...token(number, hash), ...used }));
    await fill(AuthorizationCode, (number, hash) => ({ ...token(number, hash), ...used }));
    const browser = (hash: string) => ({ browserHash: hash, tokenHash: hash });
    await fill(Authorization, (number, hash) => ({
      ...live,
      ...common,
      ...browser(hash),
      id: `txn_${number}`,
    }));
    await fill(KnownBrowser, (_, hash) => ({ ...browser(hash), phone: '+1', signedInAt: now }));
    await fill(OtpChallenge, (number, hash) => ({
      ...live,
      transactionId: `txn_${number}`,
      phone: '+1',
      codeHash: hash,
    }));
    await fill(OtpFailures, (number) => ({ phone: `+1${number}`, failures: 1, lastAt: now }));
    await fill(SignInSession, (number, hash) => ({ ...live, hash, userId: `usr_${number}` }));
    await fill(JobRun, (number) => ({
      job: number % 2 === 0 ? PRUNE : 'other',
      period: hourOf(later(now, -Math.floor(number / 2) * HOUR)),
      startedAt: now,
    }));
    await fill(IdempotencyKey, (number, hash) => ({
      ...live,
      hash,
      clientId: common.clientId,
      userId: `usr_${number}`,
      requestHash: hash,
      made: '{}',
    }));
    await fill(ThrottleHit, (_, hash) => ({ hash, slot: now, hits: 1 }));
    for (const { tableName } of app().dataSource.entityMetadatas)
      await app().dataSource.query(`ANALYZE ${isSqlite ? '' : 'TABLE '}${tableName}`);
  }

  async function searches(): Promise<Search[]> {
    const found: Search[] = [];
    const { dataSource } = app();
    const { logger } = dataSource;
    const recording = new Proxy(logger, {
      get: (target, name) =>
        name === 'logQuery'
          ? (query: string, parameters: unknown[] = []) => found.push({ query, parameters })
          : Reflect.get(target, name),
    });
    Object.assign(dataSource, { logger: recording });
    await app().service(Prune).run();
    Object.assign(dataSource, { logger });
    return found.filter(({ query }) => /^SELECT .* LIMIT 1000$/s.test(query));
  }

  it('O142 Never read a whole table, and stop at a thousand rows', async () => {
    await fillAll();
    const all = await searches();
    expect(all.length).toBeGreaterThan(15);
    for (const { query, parameters } of all) {
      const scans = await scansOf(database, app().dataSource, query, parameters);
      expect(scans, query).toEqual([]);
    }
  });
});
