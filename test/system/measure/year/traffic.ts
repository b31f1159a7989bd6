import { addMilliseconds, DAY } from '../../../../src/platform/clock.js';
import { sendRefresh } from '../../../support/oauth-flow.js';
import { json, type TokenBody } from '../../../support/responses.js';
import { flushDeferredWrites, type TestApp, type TestClient } from '../../../support/test-app.js';
import { HTTP_CALLS_PER_MONTH, type Month, userId } from './tables.js';

/** Each sends one call at a time, so that its newest post is known. */
const CALLERS_PER_APP = 3;
/** Of a hundred calls: a publish, a comment on the caller's newest post, a deletion of it, and three kinds of reads. */
const [PUBLISHES, COMMENTS, DELETIONS] = [10, 15, 17];
/** Posts of an app in a month. Each app tries to publish more. */
export const HTTP_APP_LIMIT = Math.max(2, Math.round(HTTP_CALLS_PER_MONTH / 200));

interface CallerOfMonth {
  client: TestClient;
  tokens: TokenBody | undefined;
  newestPost: string | undefined;
  calls: number;
}

/** What the service answered in a month. */
export interface Answered {
  calls: number;
  /** Refreshes, which are no API calls. */
  refreshes: number;
  published: Map<string, number>;
  rejected: Map<string, number>;
  unexpected: string[];
}

/** Sends the HTTP calls of a month: each day of the month some, by users of the last apps, with access tokens refreshed that day. */
export async function sendCalls(
  app: TestApp,
  clients: readonly TestClient[],
  { from, to }: Month,
  firstUser: number,
): Promise<Answered> {
  app.clock.set(addMilliseconds(from, 60_000).toISOString());
  const answered: Answered = {
    calls: 0,
    refreshes: 0,
    published: new Map(),
    rejected: new Map(),
    unexpected: [],
  };
  const callers: CallerOfMonth[] = [];
  for (const [index, client] of clients.entries())
    for (let number = 0; number < CALLERS_PER_APP; number += 1) {
      const id = userId(firstUser + index * CALLERS_PER_APP + number);
      const { accessToken: access_token, refreshToken: refresh_token } = await app.issueTokens(
        { id },
        client,
      );
      const tokens = { access_token, refresh_token } as TokenBody;
      callers.push({ client, tokens, newestPost: undefined, calls: 0 });
    }
  const days = (to.getTime() - from.getTime()) / DAY;
  for (let day = 0; day < days; day += 1) {
    app.clock.set(addMilliseconds(from, (day + 0.5) * DAY).toISOString());
    await Promise.all(callers.map((caller) => refresh(app, caller, answered)));
    const calls = Math.round(HTTP_CALLS_PER_MONTH / days);
    let sent = 0;
    const send = async (caller: CallerOfMonth): Promise<void> => {
      while (sent < calls) {
        sent += 1;
        await call(app, caller, answered);
      }
    };
    await Promise.all(callers.map(send));
  }
  await flushDeferredWrites(app);
  return answered;
}

async function refresh(app: TestApp, caller: CallerOfMonth, answered: Answered): Promise<void> {
  const { client, tokens } = caller;
  const response = await sendRefresh(app, client, tokens?.refresh_token);
  if (response.status !== 200)
    throw new Error(`A refresh returned ${response.status}: ${await response.text()}`);
  caller.tokens = await json<TokenBody>(response);
  answered.refreshes += 1;
}

async function call(app: TestApp, caller: CallerOfMonth, answered: Answered): Promise<void> {
  const { clientId } = caller.client;
  const token = caller.tokens?.access_token ?? '';
  const kind = (caller.calls * 37) % 100;
  const post = caller.newestPost;
  caller.calls += 1;
  answered.calls += 1;
  const expect = (response: Response, ...statuses: number[]): void => {
    if (!statuses.includes(response.status))
      answered.unexpected.push(`${response.url}: ${response.status}`);
  };
  if (kind < PUBLISHES || post === undefined) {
    const response = await app.call(token, 'POST', '/posts', { content: 'Free plums' });
    expect(response, 201, 429);
    const counts = response.status === 201 ? answered.published : answered.rejected;
    counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
    if (response.status === 201) caller.newestPost = (await json<{ id: string }>(response)).id;
    else await response.text();
  } else if (kind < COMMENTS) {
    const response = await app.call(token, 'POST', `/posts/${post}/comments`, { text: 'Thanks' });
    expect(response, 201, 404);
    await response.text();
  } else if (kind < DELETIONS) {
    const response = await app.call(token, 'DELETE', `/posts/${post}`);
    expect(response, 200, 404);
    await response.text();
  } else {
    const path = kind < 50 ? '/me' : kind < 80 ? '/posts' : '/quota';
    const response = await app.call(token, 'GET', path);
    expect(response, 200);
    await response.text();
  }
}
