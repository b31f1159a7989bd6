import { setTimeout as sleep } from 'node:timers/promises';
import { json, type TokenBody } from '../../support/json.js';
import { Repeated } from '../../support/repeated.js';
import type { TestClient } from '../../support/test-app.js';
import { approve, exchange, requestToken, type Site } from '../../support/visitor.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import type { PageBody, PostBody } from '../../e2e/api/member.js';

const PAUSE_MS = 50;

/** The service said that it is to be asked again later, as it may. */
class AskedAgainLater extends Error {}

/** A user who signs in, allows an app and uses the API through it, over and over. */
export class Visits {
  /** How many went through. */
  done = 0;
  /** How many ended with a 503 that says when to come again. */
  putOff = 0;
  private readonly visitor = new Repeated();

  /** @param site where the next request goes to */
  constructor(
    private readonly site: () => Site,
    private readonly user: User,
    private readonly client: TestClient,
  ) {
    this.visitor.begin(() => this.come());
  }

  /** @throws when a visit neither went through nor was put off */
  async stop(): Promise<void> {
    await this.visitor.stop();
    expect(this.done).toBeGreaterThan(0);
  }

  private async come(): Promise<void> {
    try {
      await this.visit();
      this.done += 1;
    } catch (error) {
      if (!(error instanceof AskedAgainLater)) throw error;
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
      body: JSON.stringify({ text: 'Count me in' }),
    });
    const { id } = await json<PostBody>(written);
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
