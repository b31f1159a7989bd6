import { setTimeout as sleep } from 'node:timers/promises';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { RepeatedWork } from '../../support/background.js';
import type { Site } from '../../support/browser.js';
import { isPage } from '../../support/cluster.js';
import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import type { PageBody, PostBody } from '../../support/member.js';
import { json, type TokenBody } from '../../support/responses.js';
import { rateLimits, UNLIMITED, type TestClient } from '../../support/test-app.js';
import { In, type DataSource } from 'typeorm';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { AccessToken } from '../../../src/modules/oauth/tokens/token.entities.js';

/** One user signs in many times a minute from one address, and keeps every grant. `rateLimits` also lifts the limit of the address. */
export const UNLIMITED_MESSAGES = rateLimits({
  'grants-per-user': UNLIMITED,
  'phone-messages-per-minute': UNLIMITED,
  'phone-messages-per-hour': UNLIMITED,
  'phone-messages-per-day': UNLIMITED,
});

/** The same for release 1.0.0. */
export const UNLIMITED_MESSAGES_1_0_0 = {
  OTP_ADDRESS_HOURLY: '0',
  OTP_RESEND_SECONDS: '0',
  OTP_PHONE_HOURLY: '0',
  OTP_PHONE_DAILY: '0',
};

const PAUSE_MS = 50;
/** Far longer than a visit. */
const MAX_VISIT_MS = 15_000;
/** Text of the comment of each visit. */
export const COMMENT_TEXT = 'Count me in';

/** The service returned 503 with Retry-After, which is allowed. */
class Unavailable extends Error {}

/** Visits of a user: each signs in, allows an app, refreshes its tokens, and reads and comments through it. One follows another. */
export class Visits {
  /** Number of successful visits. */
  succeeded = 0;
  /** Number of visits that ended with 503 and Retry-After. */
  unavailable = 0;
  /** Ids of the acknowledged comments. */
  readonly comments: string[] = [];
  /** Number of visits that have begun. */
  private begun = 0;
  /** Position of the newest successful visit among the visits that have begun, from 1; 0 before the first success. */
  private newest = 0;
  private hasFailed = false;
  private readonly visitor = new RepeatedWork();

  private constructor(
    private readonly site: () => Site,
    private readonly user: UserWithPhone,
    private readonly client: TestClient,
  ) {}

  /**
   * Repeats sign-in, refresh and comment until stopped.
   * @param site returns the target of the next request
   */
  static start(site: () => Site, user: UserWithPhone, client: TestClient): Visits {
    const visits = new Visits(site, user, client);
    visits.visitor.begin(() => visits.repeat());
    return visits;
  }

  /** Waits until a visit that begins now or later succeeds. @throws when none does in time */
  async awaitSuccess(): Promise<void> {
    const { begun } = this;
    const deadline = performance.now() + MAX_VISIT_MS;
    while (this.newest <= begun) {
      // Throws the failure.
      if (this.hasFailed) await this.stop();
      if (performance.now() > deadline)
        throw new Error(`No visit succeeded within ${MAX_VISIT_MS / 1000} s.`);
      await sleep(PAUSE_MS);
    }
  }

  /** @throws when a visit failed other than with 503 */
  stop(): Promise<void> {
    return this.visitor.stop();
  }

  private async repeat(): Promise<void> {
    const position = (this.begun += 1);
    try {
      await this.visit();
      this.succeeded += 1;
      this.newest = position;
    } catch (error) {
      this.hasFailed = !(error instanceof Unavailable);
      if (this.hasFailed) throw error;
      this.unavailable += 1;
      await sleep(PAUSE_MS);
    }
  }

  private async visit(): Promise<void> {
    const site = this.checkedSite();
    const code = (await approve(site, this.user, this.client)).get('code') ?? '';
    const first = await json<TokenBody>(await exchange(site, this.client, code));
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const { access_token: token } = await json<TokenBody>(
      await requestToken(site, this.client, refresh),
    );
    const authorization = `Bearer ${token}`;
    const read = (path: string): Promise<Response> =>
      site.fetch(`/dev/v1${path}`, { headers: { authorization } });
    await read('/me');
    const { data } = await json<PageBody<PostBody>>(await read('/posts'));
    const path = `/posts/${data[0]?.id}/comments`;
    const written = await site.fetch(`/dev/v1${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: COMMENT_TEXT }),
    });
    const { id } = await json<PostBody>(written);
    this.comments.push(id);
    const { data: comments } = await json<PageBody<PostBody>>(await read(path));
    expect(comments.map((comment) => comment.id)).toContain(id);
  }

  /** The site. Pages come from where the visit began, as with sticky sessions. Responses other than success and redirects throw. */
  private checkedSite(): Site {
    const first = this.site();
    const { baseUrl, sms } = first;
    return {
      baseUrl,
      sms,
      fetch: async (path, init) => {
        const site = isPage(path) ? first : this.site();
        const response = await site.fetch(path, init);
        if (response.status < 400) return response;
        if (response.status === 503 && response.headers.has('retry-after')) throw new Unavailable();
        const { pathname } = new URL(path, baseUrl);
        throw new Error(`${pathname}: ${response.status} ${await response.text()}`);
      },
    };
  }
}

/** Audit actions of issued access tokens. Their subject is the grant. */
const ISSUED = ['token.issued', 'token.refreshed'];

/**
 * Asserts that the rows of the visits are stored: as many access tokens of each grant as audit events, and each acknowledged
 * comment. The comment of a visit that ended with 503 may be stored.
 */
export async function expectVisited(
  { manager }: DataSource,
  { comments, succeeded, unavailable }: Visits,
  { id: userId }: UserWithPhone,
): Promise<void> {
  const tokens = await manager.find(AccessToken);
  const events = await manager.findBy(AuditEvent, { action: In(ISSUED) });
  expect(countsOf(tokens.map(({ grantId }) => grantId))).toEqual(
    countsOf(events.map(({ subject }) => subject)),
  );
  // One by the code and one by the refresh token.
  expect(tokens.length).toBeGreaterThanOrEqual(2 * succeeded);
  const stored = await manager.findBy(Comment, { userId, text: COMMENT_TEXT });
  const ids = stored.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id);
  expect(comments.length).toBeGreaterThanOrEqual(succeeded);
  expect(ids).toEqual(expect.arrayContaining(comments));
  expect(stored.length).toBeLessThanOrEqual(succeeded + unavailable);
}

/** Number of occurrences of each id. */
function countsOf(ids: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}
