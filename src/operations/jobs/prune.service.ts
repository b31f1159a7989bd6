import { Injectable } from '@nestjs/common';
import { ExpiredAuditEvents } from '../../audit/expired-audit-events.repository.js';
import { Clock, DAY, later } from '../../common/clock.js';
import {
  countByTable,
  deleteInBatches,
  type BatchSettings,
  type RowsByTable,
} from '../../database/batches.js';
import type { ExpiredRows } from '../../database/expired-rows.js';
import { TransactionRunner } from '../../database/transaction.js';
import { Idempotency } from '../../idempotency/idempotency.service.js';
import { CommentsPrune } from '../../modules/comments/prune/comments-prune.service.js';
import { OAuthPruneService } from '../../modules/oauth/prune/oauth-prune.service.js';
import { PostsPrune } from '../../modules/posts/prune/posts-prune.service.js';
import { CallLogPrune } from '../../modules/quota/call-log-prune.service.js';
import { hourOf } from './job-periods.js';
import { JobRunsRepository } from './job-runs.repository.js';
import { PRUNE, USAGE_ROLLUP } from './job-names.js';

const RUNS_MS = 90 * DAY;

/** Told like the others, also when no post is gone. */
const POSTS_TABLES: RowsByTable = { post_likes: 0, posts: 0 };

/** Deletes what has expired. Nothing depends on it but the size of the database. */
@Injectable()
export class Prune {
  constructor(
    private readonly oauth: OAuthPruneService,
    private readonly idempotency: Idempotency,
    private readonly calls: CallLogPrune,
    private readonly audit: ExpiredAuditEvents,
    private readonly posts: PostsPrune,
    private readonly comments: CommentsPrune,
    private readonly runs: JobRunsRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** What a run would delete now. */
  async preview(): Promise<RowsByTable> {
    const counts = await countByTable(this.expired(this.calls.expired()), (rows) => rows.count());
    return { ...POSTS_TABLES, ...counts };
  }

  /**
   * Deletes it, a batch at a time. Safe to run twice, late, never, or in two places at once.
   * @param until when to stop before all is done; the next run goes on
   * @param onBatch told after every batch how many rows of a table are gone
   */
  async run(until?: Date, onBatch?: BatchSettings['onBatch']): Promise<RowsByTable> {
    const settings = { isOver: () => this.isOver(until), onBatch };
    const remove = (rows: ExpiredRows): Promise<number> =>
      deleteInBatches(this.transactions, rows, settings);
    await remove(this.oauth.cleared());
    const calls = await this.calls.counted(until);
    return { ...POSTS_TABLES, ...(await countByTable(this.expired(calls, until), remove)) };
  }

  /** In an order that leaves no row without the one that it belongs to: a comment goes before its post. */
  private async *expired(calls: ExpiredRows, until?: Date): AsyncGenerator<ExpiredRows> {
    const now = this.clock.now();
    const before = hourOf(later(now, -RUNS_MS)).name;
    yield* this.oauth.expired();
    yield this.idempotency.expired();
    yield calls;
    yield this.audit.at(now);
    yield this.runs.before(PRUNE, before);
    yield this.runs.before(USAGE_ROLLUP, before);
    yield this.comments.deleted(now);
    for await (const ids of this.posts.gone(now)) {
      if (this.isOver(until)) return;
      yield this.comments.onPosts(ids, now);
      yield* this.posts.expired(ids, now);
    }
  }

  private isOver(until: Date | undefined): boolean {
    return until !== undefined && this.clock.now() >= until;
  }
}
