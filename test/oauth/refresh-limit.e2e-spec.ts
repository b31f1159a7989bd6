import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { sha256 } from '../../src/platform/secrets.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';
import { isTokenAccepted, obtainTokens, requestToken } from '../support/oauth-flow.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import {
  DEFAULT_LIMITS,
  rateLimits,
  TestApp,
  type TestClient,
  UNLIMITED,
  useTestApp,
} from '../support/test-app.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const LIMIT = 5;
const NAME = 'grant-refreshes-per-hour';

/** Creates the tokens of a new grant for each test. */
function useTokens(database: TestDatabase, env: Record<string, string>) {
  const app = useTestApp(database, env);
  const fixture = {} as { client: TestClient; tokens: TokenBody };
  beforeEach(async () => {
    fixture.client = await app().addClient();
    fixture.tokens = await obtainTokens(app(), fixture.client);
  });

  const send = ({ refresh_token }: TokenBody, target = app()): Promise<Response> =>
    requestToken(target, fixture.client, { grant_type: 'refresh_token', refresh_token });

  /** Refreshes one after the other, each time with the newest refresh token, and returns the newest tokens. */
  async function refresh(tokens: TokenBody, { times }: { times: number }): Promise<TokenBody> {
    let newest = tokens;
    for (let number = 1; number <= times; number += 1) {
      const response = await send(newest);
      expect(response.status).toBe(200);
      newest = await json<TokenBody>(response);
    }
    return newest;
  }

  return { app, fixture, send, refresh };
}

/** Asserts the response to a refresh beyond the limit. Returns the seconds to wait. */
async function expectRejected(response: Response): Promise<number> {
  expect(response.status).toBe(429);
  const seconds = Number(response.headers.get('retry-after'));
  expect(await json(response)).toEqual({
    error: 'too_many_attempts',
    error_description: `Too many attempts. Try again in ${seconds} seconds.`,
    message: 'Too many attempts',
  });
  expectTokenHeaders(response);
  return seconds;
}

onOneEngine('Limit of refreshes of a grant: the default', (database) => {
  const { app, fixture, send, refresh } = useTokens(database, DEFAULT_LIMITS);

  it('O91 allows 120 refreshes in an hour, and consumes nothing beyond', async () => {
    const newest = await refresh(fixture.tokens, { times: 120 });
    const seconds = await expectRejected(await send(newest));
    expect(seconds).toBeGreaterThan(59 * 60);
    expect(seconds).toBeLessThanOrEqual(61 * 60);
    app().clock.advance(seconds * SECOND - 1);
    await expectRejected(await send(newest));
    app().clock.advance(1);
    await refresh(newest, { times: 1 });
  });
});

onOneEngine('Limit of refreshes of a grant', (database) => {
  const { app, fixture, send, refresh } = useTokens(database, rateLimits({ [NAME]: LIMIT }));

  it('O91 counts the refreshes of each grant separately', async () => {
    const newest = await refresh(fixture.tokens, { times: LIMIT });
    await expectRejected(await send(newest));
    await refresh(await obtainTokens(app(), fixture.client), { times: LIMIT });
  });

  it('O91 counts repeats, too', async () => {
    await refresh(fixture.tokens, { times: 1 });
    for (let repeat = 2; repeat <= LIMIT; repeat += 1)
      expect((await send(fixture.tokens)).status).toBe(200);
    await expectRejected(await send(fixture.tokens));
  });

  it('O91 accepts exactly the allowed number of concurrent refreshes', async () => {
    const responses = await concurrently(4 * LIMIT, () => send(fixture.tokens));
    const accepted = responses.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(LIMIT);
    for (const response of responses) if (response.status !== 200) await expectRejected(response);
  });

  it('O91 does not count a late repeat beyond the limit as answered', async () => {
    const second = await refresh(fixture.tokens, { times: 1 });
    for (let repeat = 2; repeat <= LIMIT; repeat += 1) await send(fixture.tokens);
    app().clock.advance(3 * SECOND);
    await expectRejected(await send(fixture.tokens));
    const hash = sha256(fixture.tokens.refresh_token);
    const row = await app().dataSource.manager.findOneByOrFail(RefreshToken, { hash });
    expect(row.replayedAt).toBeNull();
    expect(await isTokenAccepted(app(), second.access_token)).toBe(true);
  });

  it('O97 detects reuse beyond the limit, so a thief cannot prevent it by refreshing', async () => {
    const newest = await refresh(fixture.tokens, { times: LIMIT });
    await expectRejected(await send(newest));
    await expectTokenError(await send(fixture.tokens), 'invalid_grant');
    expect(await isTokenAccepted(app(), newest.access_token)).toBe(false);
  });

  it('O91 counts in each process separately', async () => {
    const newest = await refresh(fixture.tokens, { times: LIMIT });
    const other = await TestApp.start(database, rateLimits({ [NAME]: LIMIT }));
    try {
      other.clock.set(app().clock.now().toISOString());
      expect((await send(newest, other)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('O144 writes the exceeded limit to the audit log and counts rejections in the metric', async () => {
    const counter = app().service(Metrics).registry.getSingleMetric('oauth_throttled_total');
    const rejections = async (): Promise<number> => {
      const { values = [] } = (await counter?.get()) ?? {};
      return values.find(({ labels }) => labels.limit === NAME)?.value ?? 0;
    };
    const before = await rejections();
    const newest = await refresh(fixture.tokens, { times: LIMIT });
    await expectRejected(await send(newest));
    await expectRejected(await send(newest));
    expect(await rejections()).toBe(before + 2);
    const { manager } = app().dataSource;
    const { clientId } = fixture.client;
    const hash = sha256(newest.refresh_token);
    const { grantId } = await manager.findOneByOrFail(RefreshToken, { hash });
    const events = await manager.findBy(AuditEvent, { action: 'oauth.throttled', clientId });
    expect(events.map(({ subject, details }) => ({ subject, details }))).toEqual([
      { subject: NAME, details: { clientId, grantId } },
    ]);
    app().clock.advance(61 * MINUTE + SECOND);
    await refresh(newest, { times: 1 });
  });
});

onOneEngine('Limit of refreshes of a grant: switched off', (database) => {
  const { fixture, refresh } = useTokens(database, rateLimits({ [NAME]: UNLIMITED }));

  it('O91 allows any number of refreshes', async () => {
    await refresh(fixture.tokens, { times: 125 });
  });
});
