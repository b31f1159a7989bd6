import { RepeatedWork } from '../../support/background.js';
import type { Member, PostBody } from '../../support/member.js';
import { json } from '../../support/responses.js';

/** The outcome of one publish. */
export interface PublishOutcome {
  status: number;
  /** Id of the published post, if any. */
  id?: string;
  retryAfter: string | null;
  /** Response time in milliseconds. */
  durationMs: number;
}

/** Publishes as a member, several posts at a time, until `stop` is called. */
export class PublishLoad {
  private readonly outcomes: PublishOutcome[] = [];
  private readonly publishers = new RepeatedWork();

  /** @param size number of posts that are published at the same time */
  constructor(
    private readonly member: Member,
    size: number,
  ) {
    for (let publisher = 0; publisher < size; publisher += 1)
      this.publishers.begin(() => this.publish());
  }

  /** Number of responses with this status so far. */
  count(status: number): number {
    return this.outcomes.filter((outcome) => outcome.status === status).length;
  }

  /** @throws when a call got no response */
  async stop(): Promise<readonly PublishOutcome[]> {
    await this.publishers.stop();
    return this.outcomes;
  }

  private async publish(): Promise<void> {
    const startedAt = performance.now();
    const response = await this.member.post('/posts', { content: 'Hi' });
    const { id } = await json<Partial<PostBody>>(response);
    const { status, headers } = response;
    const durationMs = performance.now() - startedAt;
    this.outcomes.push({ status, id, retryAfter: headers.get('retry-after'), durationMs });
  }
}
