import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { IdempotencyKey } from '../../../src/platform/http/idempotency/idempotency-key.entity.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { RepeatedWork } from '../../support/background.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import type { Member, PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import type { TestApp } from '../../support/test-app.js';

const RESPONSE_TIMEOUT_MS = 15_000;
const MAX_RETRY_PAUSE_MS = 50;
/** Leaves processor time for the service and for the fault. */
const DEFAULT_MAX_PAUSE_MS = 50;
/** Statuses that ask a client to retry: the first request with the key still runs, or the database is unavailable. */
const RETRYABLE = new Set([409, 503]);
const QUOTA_EXCEEDED = /"error":"quota_exceeded"/;

/** The user and app that publish, and the database to check. */
export type Publisher = Pick<Member, 'user' | 'client' | 'token'> & {
  readonly app: Pick<TestApp, 'dataSource'>;
};

export interface IdempotentPublishLoadOptions {
  /** Whether the test kills the service, so that calls may get no response. Otherwise a missing response is a failure. */
  isServiceKilled?: boolean;
  /** Whether the quota of the app runs out, so that publishes are rejected for good. Otherwise that is a failure. */
  isQuotaExceeded?: boolean;
  /** Longest pause of a publisher before a post, in milliseconds. */
  maxPauseMs?: number;
}

/** Publishes as a member, and retries each post with its Idempotency-Key until it gets a final response, as apps should. */
export class IdempotentPublishLoad {
  /** The ids of the published posts by Idempotency-Key. */
  readonly posts = new Map<string, string>();
  /** Number of retries. */
  retries = 0;
  /** Number of responses with `Idempotency-Replayed`. */
  replays = 0;
  /** Number of keys rejected because the quota was exceeded. */
  rejected = 0;
  /** Outcomes that must not happen: other statuses with their bodies, and missing responses. */
  private readonly unexpected: string[] = [];
  private readonly publishers = new RepeatedWork();

  /**
   * @param baseUrl returns the address of the process that gets the next request
   * @param size number of publishers
   */
  constructor(
    private readonly member: Publisher,
    private readonly baseUrl: () => string,
    size: number,
    private readonly options: IdempotentPublishLoadOptions = {},
  ) {
    for (let publisher = 0; publisher < size; publisher += 1)
      this.publishers.begin(() => this.publish());
  }

  /**
   * Waits for the final response to each request. Asserts that the post of each key is stored once with its content, and that
   * nothing else is stored.
   */
  async stopAndCheck(): Promise<void> {
    await this.publishers.stop();
    const { app, client } = this.member;
    const { clientId } = client;
    const { manager } = app.dataSource;
    const select = { id: true, content: true } as const;
    const posts = await manager.find(Post, { select, where: { clientId } });
    expect(this.unexpected).toEqual([]);
    // The content of each post is its key.
    const stored = posts.map(({ content, id }) => [content, id]);
    expect(stored.toSorted()).toEqual([...this.posts].toSorted());
    expect(await manager.countBy(IdempotencyKey, { clientId })).toBe(this.posts.size);
    expect(await countPublished(app, this.member)).toEqual(expectedCounts(this.posts.size));
  }

  private async publish(): Promise<void> {
    const key = randomUUID();
    const { maxPauseMs = DEFAULT_MAX_PAUSE_MS } = this.options;
    await sleep(maxPauseMs * Math.random());
    while (!(await this.trySend(key)) && !this.publishers.hasTestEnded) {
      this.retries += 1;
      await sleep(MAX_RETRY_PAUSE_MS * Math.random());
    }
  }

  /** Sends the post once. Returns whether the response is final: the post was acknowledged or rejected for good. */
  private async trySend(key: string): Promise<boolean> {
    try {
      const response = await fetch(`${this.baseUrl()}/dev/v1/posts`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.member.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ content: key }),
        signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      });
      const { status, headers } = response;
      if (status !== 201) {
        const body = await response.text();
        if (this.options.isQuotaExceeded === true && status === 429 && QUOTA_EXCEEDED.test(body)) {
          this.rejected += 1;
          return true;
        }
        const isRetryable = RETRYABLE.has(status) && (status !== 503 || headers.has('retry-after'));
        if (!isRetryable) this.unexpected.push(`${status}: ${body}`);
        return false;
      }
      if (headers.has('idempotency-replayed')) this.replays += 1;
      const { id } = await json<PostBody>(response);
      this.posts.set(key, id);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError')
        this.unexpected.push(`no response in ${RESPONSE_TIMEOUT_MS / 1000} s`);
      // Connection rejected or reset: the outcome is unknown.
      else if (this.options.isServiceKilled !== true)
        this.unexpected.push(`connection error: ${inspect(error)}`);
      return false;
    }
  }
}
