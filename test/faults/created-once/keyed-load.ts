import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { IdempotencyKey } from '../../../src/idempotency/idempotency-key.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { RepeatedWork } from '../../support/background.js';
import { allEqual, countPublished } from '../../support/fixtures.js';
import type { Member, PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';
import type { TestApp } from '../../support/test-app.js';

const ANSWER_MS = 15_000;
const PAUSE_MS = 50;
/** So long that the processor is left for what is broken meanwhile. */
const LONGEST_PAUSE_MS = 50;
/** What a client is told to repeat: the first request with the key still runs, or the database is away. */
const REPEATED = new Set([409, 503]);
const QUOTA_EXCEEDED = /"error":"quota_exceeded"/;

/** Whoever publishes, and where that can be looked at. */
export type Publisher = Pick<Member, 'user' | 'client' | 'token'> & {
  readonly app: Pick<TestApp, 'dataSource'>;
};

export interface KeyedLoadOptions {
  /** Whether the service is ended by force meanwhile, so that whoever called it may hear nothing. Otherwise that is a failure. */
  isServiceKilled?: boolean;
  /** Whether the app's quota is spent meanwhile, so that publishes are refused for good. Otherwise that is a failure. */
  isQuotaSpent?: boolean;
  /** How long a publisher waits between two posts, at most, in milliseconds. */
  longestPauseMs?: number;
}

/** Publishes in a member's name, and repeats each post with its Idempotency-Key until it is answered for good, as apps are told to. */
export class KeyedLoad {
  /** Of each key the post that it was answered. */
  readonly posts = new Map<string, string>();
  /** How many requests were sent again. */
  repetitions = 0;
  /** How many of them were told that it was done before. */
  replays = 0;
  /** How many keys were told that the app's quota is spent. */
  refused = 0;
  /** What no client can expect: other statuses, with their bodies, and no answer. */
  private readonly surprises: string[] = [];
  private readonly publishers = new RepeatedWork();

  /** @param baseUrl of the service that the next request goes to */
  constructor(
    private readonly member: Publisher,
    private readonly baseUrl: () => string,
    size: number,
    private readonly options: KeyedLoadOptions = {},
  ) {
    for (let begun = 0; begun < size; begun += 1) this.publishers.begin(() => this.publish());
  }

  /**
   * Ends when everything that was begun is answered for good. Asserts that of each key the post that was answered is there, with
   * what was sent under this key, once, and that nothing else is.
   */
  async stop(): Promise<void> {
    await this.publishers.stop();
    const { app, client } = this.member;
    const { clientId } = client;
    const { manager } = app.dataSource;
    const select = { id: true, content: true } as const;
    const posts = await manager.find(Post, { select, where: { clientId } });
    expect(this.surprises).toEqual([]);
    // What is sent under a key is the key.
    const stored = posts.map(({ content, id }) => [content, id]);
    expect(stored.toSorted()).toEqual([...this.posts].toSorted());
    expect(await manager.countBy(IdempotencyKey, { clientId })).toBe(this.posts.size);
    expect(await countPublished(app, this.member)).toEqual(allEqual(this.posts.size));
  }

  private async publish(): Promise<void> {
    const key = randomUUID();
    const { longestPauseMs = LONGEST_PAUSE_MS } = this.options;
    await sleep(longestPauseMs * Math.random());
    while (!(await this.isSettled(key)) && !this.publishers.isAbandoned) {
      this.repetitions += 1;
      await sleep(PAUSE_MS * Math.random());
    }
  }

  /** Whether the post was acknowledged, or refused for good. */
  private async isSettled(key: string): Promise<boolean> {
    try {
      const answer = await fetch(`${this.baseUrl()}/dev/v1/posts`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.member.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ content: key }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const { status, headers } = answer;
      if (status !== 201) {
        const body = await answer.text();
        if (this.options.isQuotaSpent === true && status === 429 && QUOTA_EXCEEDED.test(body)) {
          this.refused += 1;
          return true;
        }
        const isTold = REPEATED.has(status) && (status !== 503 || headers.has('retry-after'));
        if (!isTold) this.surprises.push(`${status}: ${body}`);
        return false;
      }
      if (headers.has('idempotency-replayed')) this.replays += 1;
      const { id } = await json<PostBody>(answer);
      this.posts.set(key, id);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError')
        this.surprises.push(`no answer in ${ANSWER_MS / 1000} s`);
      // Refused, or cut off: nobody knows whether it was done.
      else if (this.options.isServiceKilled !== true)
        this.surprises.push(`hung up: ${inspect(error)}`);
      return false;
    }
  }
}
