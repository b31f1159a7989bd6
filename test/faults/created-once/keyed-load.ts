import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiCall } from '../../../src/modules/quota/api-call.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { allAre, publishedBy } from '../../support/published.js';
import { json } from '../../support/json.js';
import { Repeated } from '../../support/repeated.js';
import type { TestApp } from '../../support/test-app.js';
import type { Member, PostBody } from '../../e2e/api/member.js';

const ANSWER_MS = 15_000;
const PAUSE_MS = 50;
/** What a client is told to repeat: the first request with the key still runs, or the database is away. */
const REPEATED = new Set([409, 503]);

/** Whoever publishes, and where that can be looked at. */
export type Publisher = Pick<Member, 'user' | 'client' | 'token'> & {
  readonly app: Pick<TestApp, 'dataSource'>;
};

/** Publishes in a member's name, and repeats each post with its Idempotency-Key until it is acknowledged, as apps are told to. */
export class KeyedLoad {
  /** Of each key the post that it was answered. */
  readonly posts = new Map<string, string>();
  /** How many requests were sent again. */
  repetitions = 0;
  /** How many of them were told that it was done before. */
  replays = 0;
  /** What no client can expect: other statuses, with their bodies, and no answer. */
  private readonly surprises: string[] = [];
  private readonly publishers = new Repeated();

  /** @param baseUrl of the service that the next request goes to */
  constructor(
    private readonly member: Publisher,
    private readonly baseUrl: () => string,
    size: number,
  ) {
    for (let begun = 0; begun < size; begun += 1) this.publishers.begin(() => this.publish());
  }

  /** Ends when everything that was begun is acknowledged. Asserts that everything is there once, and that nothing else is. */
  async stop(): Promise<void> {
    await this.publishers.stop();
    const { app, client } = this.member;
    const { clientId } = client;
    const { manager } = app.dataSource;
    const posts = await manager.find(Post, { select: { id: true }, where: { clientId } });
    expect(this.surprises).toEqual([]);
    expect(posts.map(({ id }) => id).toSorted()).toEqual([...this.posts.values()].toSorted());
    const recorded = await manager.countBy(ApiCall, { clientId, metered: true });
    const published = await publishedBy(app, this.member);
    expect({ ...published, recorded }).toEqual(allAre(this.posts.size));
  }

  private async publish(): Promise<void> {
    const key = randomUUID();
    while (!(await this.isAcknowledged(key)) && !this.publishers.isAbandoned) {
      this.repetitions += 1;
      await sleep(PAUSE_MS * Math.random());
    }
  }

  private async isAcknowledged(key: string): Promise<boolean> {
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
        const isTold = REPEATED.has(status) && (status !== 503 || headers.has('retry-after'));
        if (!isTold) this.surprises.push(`${status}: ${body}`);
        return false;
      }
      if (headers.has('idempotency-replayed')) this.replays += 1;
      const { id } = await json<PostBody>(answer);
      this.posts.set(key, id);
      return true;
    } catch (error) {
      // Refused, or cut off: nobody knows whether it was done.
      if (error instanceof Error && error.name === 'TimeoutError')
        this.surprises.push(`no answer in ${ANSWER_MS / 1000} s`);
      return false;
    }
  }
}
