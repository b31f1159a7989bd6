import { setTimeout as sleep } from 'node:timers/promises';
import { RepeatedWork } from '../../support/background.js';
import { requestToken } from '../../support/oauth-flow.js';
import type { CommentBody, Member, PostBody } from '../../support/member.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';

const LONGEST_PAUSE_MS = 20;
const LONGEST_ERRAND_MS = 60_000;

/** Whoever calls does one thing after the other, and sends what is told to come back again, until it is done. */
export class MixedLoad {
  /** How many answers were 503 with Retry-After. */
  refused = 0;
  /** The slowest answer, in milliseconds. */
  slowest = 0;
  private readonly done = new Map<string, number>();
  private readonly callers = new RepeatedWork();

  /** How often this was done. */
  count(name: string): number {
    return this.done.get(name) ?? 0;
  }

  /** How often anything was. */
  get all(): number {
    return [...this.done.values()].reduce((sum, count) => sum + count, 0);
  }

  publish(member: Member): void {
    this.begin(async () => {
      await this.settle('publish', 201, () => member.post('/posts', { content: 'Hi' }));
    });
  }

  publishAndDelete(member: Member): void {
    this.begin(async () => {
      const answer = await this.settle('brief publish', 201, () =>
        member.post('/posts', { content: 'Hi' }),
      );
      const { id } = await json<PostBody>(answer);
      await this.settle('deletion', 200, () => member.delete(`/posts/${id}`));
    });
  }

  /** Adds two comments to a post of the member's and deletes the first of them. */
  comment(member: Member, postId: string): void {
    const add = async (): Promise<CommentBody> => {
      const body = { text: 'Hi', parentId: null };
      const send = () => member.post(`/posts/${postId}/comments`, body);
      return json<CommentBody>(await this.settle('comment', 201, send));
    };
    this.begin(async () => {
      const { id } = await add();
      await add();
      await this.settle('comment deletion', 200, () => member.delete(`/comments/${id}`));
    });
  }

  /** Refreshes, and leaves the newest tokens in `tokens`. */
  refresh(app: TestApp, client: TestClient, tokens: TokenBody): void {
    this.begin(async () => {
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      const answer = await this.settle('refresh', 200, () => requestToken(app, client, form));
      Object.assign(tokens, await json<TokenBody>(answer));
    });
  }

  /** Ends when everything that was begun is done. @throws when an answer was one that nobody may get */
  stop(): Promise<void> {
    return this.callers.stop();
  }

  private begin(errand: () => Promise<void>): void {
    this.callers.begin(async () => {
      await errand();
      await sleep(LONGEST_PAUSE_MS * Math.random());
    });
  }

  private async settle(
    name: string,
    status: number,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const deadline = performance.now() + LONGEST_ERRAND_MS;
    while (performance.now() < deadline && !this.callers.isAbandoned) {
      const startedAt = performance.now();
      const answer = await send();
      this.slowest = Math.max(this.slowest, performance.now() - startedAt);
      if (answer.status === status) {
        this.done.set(name, this.count(name) + 1);
        return answer;
      }
      const text = await answer.text();
      if (answer.status !== 503 || !/^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? ''))
        throw new Error(`${name}: ${answer.status} ${text}`);
      this.refused += 1;
      await sleep(LONGEST_PAUSE_MS * Math.random());
    }
    throw new Error(`${name}: was not done in ${LONGEST_ERRAND_MS} ms.`);
  }
}
