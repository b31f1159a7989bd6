import { SECOND, MINUTE } from '../../src/platform/clock.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { issueTokens, type Tokens, useGrant } from '../support/grant.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError, expectTokenHeaders, json } from '../support/responses.js';
import { rateLimits } from '../support/test-app.js';

const LIMIT = 5;
const NAME = 'grant-refreshes-per-hour';

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

onOneEngine('Limit of refreshes of an app for a user', (database) => {
  const limits = rateLimits({ [NAME]: LIMIT });
  const { app, fixture, isAccepted, rowOf, refresh, renew } = useGrant(database, limits);

  /** Refreshes one after the other, each time with the newest refresh token, and returns the newest tokens. */
  async function refreshTimes(tokens: Tokens, { times }: { times: number }): Promise<Tokens> {
    let newest = tokens;
    for (let number = 1; number <= times; number += 1) newest = await renew(newest);
    return newest;
  }

  it('O91 allows its number of refreshes in an hour, and consumes nothing beyond', async () => {
    const newest = await refreshTimes(fixture.first, { times: LIMIT });
    const seconds = await expectRejected(await refresh(newest));
    expect(seconds).toBeGreaterThan(59 * 60);
    expect(seconds).toBeLessThanOrEqual(60 * 60);
    app().clock.advance(seconds * SECOND - 1);
    await expectRejected(await refresh(newest));
    app().clock.advance(1);
    await refreshTimes(newest, { times: 1 });
  });

  it('O91 counts all grants of a user to the app together', async () => {
    const second = await issueTokens(app(), fixture.client, fixture.user);
    await refreshTimes(fixture.first, { times: LIMIT - 1 });
    const newest = await refreshTimes(second, { times: 1 });
    await expectRejected(await refresh(newest));
    await expectRejected(await refresh(await issueTokens(app(), fixture.client, fixture.user)));
  });

  it('O91 counts each user and each app separately', async () => {
    const { client, user } = fixture;
    const newest = await refreshTimes(fixture.first, { times: LIMIT });
    const otherUser = await issueTokens(app(), client, await app().addUser());
    await refreshTimes(otherUser, { times: LIMIT });
    const otherClient = await app().addClient();
    const ofOtherApp = await issueTokens(app(), otherClient, user);
    expect((await refresh(ofOtherApp, {}, otherClient)).status).toBe(200);
    await expectRejected(await refresh(newest));
  });

  it('O91 counts repeats, too', async () => {
    await refreshTimes(fixture.first, { times: 1 });
    for (let repeat = 2; repeat <= LIMIT; repeat += 1) await renew(fixture.first);
    await expectRejected(await refresh(fixture.first));
  });

  it('O91 accepts exactly the allowed number of concurrent refreshes', async () => {
    const responses = await concurrently(4 * LIMIT, () => refresh(fixture.first));
    const accepted = responses.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(LIMIT);
    for (const response of responses) if (response.status !== 200) await expectRejected(response);
  });

  it('O91 does not count a late repeat beyond the limit as answered', async () => {
    const second = await refreshTimes(fixture.first, { times: 1 });
    for (let repeat = 2; repeat <= LIMIT; repeat += 1) await refresh(fixture.first);
    app().clock.advance(3 * SECOND);
    await expectRejected(await refresh(fixture.first));
    expect((await rowOf(fixture.first)).replayedAt).toBeNull();
    expect(await isAccepted(second)).toBe(true);
  });

  it('O97 detects reuse beyond the limit, so a thief cannot prevent it by refreshing', async () => {
    const newest = await refreshTimes(fixture.first, { times: LIMIT });
    await expectRejected(await refresh(newest));
    await expectTokenError(await refresh(fixture.first), 'invalid_grant');
    expect(await isAccepted(newest)).toBe(false);
  });

  it('O144 writes the exceeded limit to the audit log and counts rejections in the metric', async () => {
    const counter = app().service(Metrics).registry.getSingleMetric('oauth_throttled_total');
    const rejections = async (): Promise<number> => {
      const { values = [] } = (await counter?.get()) ?? {};
      return values.find(({ labels }) => labels.limit === NAME)?.value ?? 0;
    };
    const before = await rejections();
    const newest = await refreshTimes(fixture.first, { times: LIMIT });
    await expectRejected(await refresh(newest));
    await expectRejected(await refresh(newest));
    expect(await rejections()).toBe(before + 2);
    const { manager } = app().dataSource;
    const { clientId } = fixture.client;
    const { id: userId } = fixture.user;
    const { grantId } = await rowOf(newest);
    const events = await manager.findBy(AuditEvent, { action: 'oauth.throttled', clientId });
    expect(events.map(({ subject, details }) => ({ subject, details }))).toEqual([
      { subject: NAME, details: { clientId, userId, grantId } },
    ]);
    app().clock.advance(61 * MINUTE + SECOND);
    await refreshTimes(newest, { times: 1 });
  });
});
