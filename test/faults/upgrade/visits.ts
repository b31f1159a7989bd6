import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../../../src/modules/users/user.entity.js';
import { RepeatedWork } from '../../support/background.js';
import type { Site } from '../../support/browser.js';
import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import type { PageBody, PostBody } from '../../support/member.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

const PAUSE_MS = 50;
/** Far longer than a visit takes. */
const LONGEST_VISIT_MS = 15_000;
/** What is said in each visit. */
export const REMARK = 'Count me in';

/** The service said that it is to be asked again later, as it may. */
class AskedAgainLater extends Error {}

/** A user who signs in, allows an app and uses the API through it, over and over. */
export class Visits {
  /** How many went through. */
  done = 0;
  /** How many ended with a 503 that says when to come again. */
  putOff = 0;
  /** The ids of the comments that were acknowledged. */
  readonly comments: string[] = [];
  private begun = 0;
  /** The number of the newest that went through. */
  private newest = 0;
  private hasFailed = false;
  private readonly visitor = new RepeatedWork();

  /** @param site where the next request goes to */
  constructor(
    private readonly site: () => Site,
    private readonly user: User,
    private readonly client: TestClient,
  ) {
    this.visitor.begin(() => this.come());
  }

  /** Ends when a visit that begins from now on has gone through. @throws when none does in time */
  async goOn(): Promise<void> {
    const { begun } = this;
    const deadline = performance.now() + LONGEST_VISIT_MS;
    while (this.newest <= begun) {
      if (this.hasFailed) await this.stop();
      if (performance.now() > deadline)
        throw new Error(`No visit went through in ${LONGEST_VISIT_MS / 1000} s.`);
      await sleep(PAUSE_MS);
    }
  }

  /** @throws when a visit neither went through nor was put off */
  stop(): Promise<void> {
    return this.visitor.stop();
  }

  private async come(): Promise<void> {
    const number = (this.begun += 1);
    try {
      await this.visit();
      this.done += 1;
      this.newest = number;
    } catch (error) {
      this.hasFailed = !(error instanceof AskedAgainLater);
      if (this.hasFailed) throw error;
      this.putOff += 1;
      await sleep(PAUSE_MS);
    }
  }

  private async visit(): Promise<void> {
    const site = this.watched();
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
      body: JSON.stringify({ text: REMARK }),
    });
    const { id } = await json<PostBody>(written);
    this.comments.push(id);
    const { data: comments } = await json<PageBody<PostBody>>(await read(path));
    expect(comments.map((comment) => comment.id)).toContain(id);
  }

  /** The site, of which nothing but success and redirects is taken for an answer. */
  private watched(): Site {
    const { baseUrl, sms } = this.site();
    return {
      baseUrl,
      sms,
      fetch: async (path, init) => {
        const answer = await this.site().fetch(path, init);
        if (answer.status < 400) return answer;
        if (answer.status === 503 && answer.headers.has('retry-after')) throw new AskedAgainLater();
        const { pathname } = new URL(path, baseUrl);
        throw new Error(`${pathname}: ${answer.status} ${await answer.text()}`);
      },
    };
  }
}
