import { setTimeout as sleep } from 'node:timers/promises';
import { RepeatedWork } from '../../support/background.js';
import { requestToken } from '../../support/oauth-flow.js';
import type { CommentBody, Member, PostBody } from '../../support/member.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';

const MAX_PAUSE_MS = 20;
const RETRY_TIMEOUT_MS = 60_000;

/** Callers that each repeat one task until `stop` is called, and retry a request after each 503. */
export class MixedLoad {
  /** Number of responses with 503 and Retry-After. */
  rejected = 0;
  /** Longest response time in milliseconds. */
  slowest = 0;
  private readonly successes = new Map<string, number>();
  private readonly callers = new RepeatedWork();

  /** Number of successful requests of this kind: `publish`, `comment`, `comment deletion`, `refresh` and so on. */
  count(name: string): number {
    return this.successes.get(name) ?? 0;
  }

  /** Number of successful requests of all kinds. */
  get total(): number {
    return [...this.successes.values()].reduce((sum, count) => sum + count, 0);
  }

  startPublishing(member: Member): void {
    this.begin(async () => {
      await this.sendUntilSuccess('publish', 201, () => member.post('/posts', { content: 'Hi' }));
    });
  }

  startPublishingAndDeleting(member: Member): void {
    this.begin(async () => {
      const response = await this.sendUntilSuccess('publish before deletion', 201, () =>
        member.post('/posts', { content: 'Hi' }),
      );
      const { id } = await json<PostBody>(response);
      await this.sendUntilSuccess('deletion', 200, () => member.delete(`/posts/${id}`));
    });
  }

  /** Repeatedly adds two comments to a post of the member and deletes the first of the two. */
  startCommenting(member: Member, postId: string): void {
    const add = async (): Promise<CommentBody> => {
      const body = { text: 'Hi', parentId: null };
      const send = () => member.post(`/posts/${postId}/comments`, body);
      return json<CommentBody>(await this.sendUntilSuccess('comment', 201, send));
    };
    this.begin(async () => {
      const { id } = await add();
      await add();
      await this.sendUntilSuccess('comment deletion', 200, () => member.delete(`/comments/${id}`));
    });
  }

  /** Refreshes repeatedly, and stores the newest tokens in `tokens`. */
  startRefreshing(app: TestApp, client: TestClient, tokens: TokenBody): void {
    this.begin(async () => {
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      const response = await this.sendUntilSuccess('refresh', 200, () =>
        requestToken(app, client, form),
      );
      Object.assign(tokens, await json<TokenBody>(response));
    });
  }

  /** Waits for the running tasks. @throws when a response was neither a success nor a 503 with Retry-After */
  stop(): Promise<void> {
    return this.callers.stop();
  }

  private begin(task: () => Promise<void>): void {
    this.callers.begin(async () => {
      await task();
      await sleep(MAX_PAUSE_MS * Math.random());
    });
  }

  private async sendUntilSuccess(
    name: string,
    status: number,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const deadline = performance.now() + RETRY_TIMEOUT_MS;
    while (performance.now() < deadline && !this.callers.hasTestEnded) {
      const startedAt = performance.now();
      const response = await send();
      this.slowest = Math.max(this.slowest, performance.now() - startedAt);
      if (response.status === status) {
        this.successes.set(name, this.count(name) + 1);
        return response;
      }
      const text = await response.text();
      if (response.status !== 503 || !/^[1-9]\d*$/.test(response.headers.get('retry-after') ?? ''))
        throw new Error(`${name}: ${response.status} ${text}`);
      this.rejected += 1;
      await sleep(MAX_PAUSE_MS * Math.random());
    }
    throw new Error(`${name}: no success within ${RETRY_TIMEOUT_MS} ms.`);
  }
}
