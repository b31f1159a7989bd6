import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { sendForm } from '../../support/oauth-flow.js';
import { rateLimits, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { ConcurrentCallers, percentile } from './concurrent-callers.js';
import { RawConnection, type RawResponse } from './raw-connection.js';
import { publish, readPosts, revoke } from './requests.js';

/** Open API calls of the busy app, and as many open token requests. The bulkhead admits 50. */
const REQUESTS = 400;
const LOAD_MS = 3000;
/** Maximum median of the other app, as a part of that of the busy app. If the other app had to wait, they would be about the same. */
const MAX_SHARE = 0.25;
const TEST_TIMEOUT_MS = 60_000;
const NO_PAUSE = { intervalMs: 0, obeysRetryAfter: false };

onOneServer('One busy app', (database) => {
  // No request of the busy app times out, so the test compares times only.
  const app = useTestApp(database, {
    DB_QUEUE_TIMEOUT_MS: '20000',
    DB_TIMEOUT_MS: '20000',
    QUOTA_DEFAULT_LIMIT: '1000000',
    // The token requests of the busy app exceed the default within seconds.
    ...rateLimits({ 'token-calls': 0 }),
  });

  it.for([
    ['open API calls', 'confidential'],
    ['open API calls and as many token requests', 'public'],
  ] as const)(
    `C27 does not delay another app with ${REQUESTS} %s`,
    { timeout: TEST_TIMEOUT_MS },
    async ([title, kind], { task }) => {
      const { baseUrl } = app();
      const busy = await Member.join(app(), { client: await app().addClient({ kind }) });
      const other = await Member.join(app());
      const callers = await ConcurrentCallers.connect(baseUrl, REQUESTS);
      const tokenCallers = await ConcurrentCallers.connect(
        baseUrl,
        kind === 'public' ? REQUESTS : 0,
      );
      const caller = await RawConnection.connect(baseUrl);
      // The service accepts the connection before the load begins.
      await caller.send(readPosts(baseUrl, other.token));
      const load = callers.call(LOAD_MS, () => publish(baseUrl, busy.token, 'Hi'), NO_PAUSE);
      const { clientId } = busy.client;
      const tokenLoad = tokenCallers.call(LOAD_MS, () => revoke(baseUrl, clientId), NO_PAUSE);
      const responses: RawResponse[] = [];
      const tokenStatuses = new Set<number>();
      const until = performance.now() + LOAD_MS;
      while (performance.now() < until) {
        responses.push(await caller.send(readPosts(baseUrl, other.token)));
        const form = { token: other.token };
        const { status } = await sendForm(app(), '/oauth/introspect', other.client, form);
        tokenStatuses.add(status);
      }
      const delayed = await load;
      const tokenResponses = await tokenLoad;
      callers.disconnect();
      tokenCallers.disconnect();
      caller.close();

      const [busyMs, otherMs] = [percentile(delayed, 50), percentile(responses, 50)];
      expect(otherMs).toBeLessThan(MAX_SHARE * busyMs);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      expect(tokenStatuses).toEqual(new Set([200]));
      // The requests of the busy app wait for each other, and are not rejected.
      expect(new Set(delayed.map(({ status }) => status))).toEqual(new Set([201]));
      expect(tokenResponses.filter(({ status }) => status !== 200)).toEqual([]);
      reportFigure(
        task,
        `${database.engine.label}: with ${REQUESTS} ${title} of one app, median ${Math.round(busyMs)} ms, reads of another app take ${Math.round(otherMs)} ms`,
      );
    },
  );
});
