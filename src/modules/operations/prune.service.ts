import { Injectable } from '@nestjs/common';
import { AuditEventReader } from '../../platform/audit/audit-event-reader.repository.js';
import { Clock, DAY, addMilliseconds } from '../../platform/clock.js';
import {
  type BatchSettings,
  sumByTable,
  deleteInBatches,
  type RowsByTable,
} from '../../platform/database/retention/batches.js';
import type { DeletableRows } from '../../platform/database/retention/deletion-queries.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { Idempotency } from '../../platform/http/idempotency/idempotency.service.js';
import { hourOf } from '../../platform/lifecycle/job-runner.service.js';
import { JobRunsRepository } from '../../platform/lifecycle/job-runs.repository.js';
import { CommentsService } from '../comments/comments.service.js';
import { OAuthRetention } from '../oauth/oauth-retention.js';
import { PostsService } from '../posts/posts.service.js';
import { UsageRollup } from '../quota/calls/usage-rollup.service.js';

const JOB_RUNS_RETENTION_MS = 90 * DAY;

/** Every result lists these tables, also when no post has expired. */
const POSTS_TABLES: RowsByTable = { post_likes: 0, posts: 0 };

interface PruneOptions extends Pick<BatchSettings, 'onBatch'> {
  /** When to stop, even if rows are left; the next run continues. */
  stopAt?: Date;
  /** Called before the expired calls of a day are aggregated. */
  onDay?: (day: string) => void;
}

/** Deletes expired rows. Requests ignore such rows, so a late run changes no response. */
@Injectable()
export class Prune {
  constructor(
    private readonly oauth: OAuthRetention,
    private readonly idempotency: Idempotency,
    private readonly usage: UsageRollup,
    private readonly audit: AuditEventReader,
    private readonly posts: PostsService,
    private readonly comments: CommentsService,
    private readonly runs: JobRunsRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the rows that a run would delete now.
   * @param onTable called before the rows of a table are counted
   */
  async preview(onTable?: (table: string) => void): Promise<RowsByTable> {
    const counts = await sumByTable(this.expired(this.usage.expiredCalls()), (rows) => {
      onTable?.(rows.table);
      return rows.count();
    });
    return { ...POSTS_TABLES, ...counts };
  }

  /**
   * Deletes in batches. Idempotent and safe to run concurrently.
   */
  async run({ stopAt, onBatch, onDay }: PruneOptions = {}): Promise<RowsByTable> {
    const settings = { shouldStop: () => this.shouldStop(stopAt), onBatch };
    const remove = (rows: DeletableRows): Promise<number> =>
      deleteInBatches(this.transactions, rows, settings);
    // Clears columns of rows that remain, so the result does not list them.
    await remove(this.oauth.responsesToClear());
    const calls = await this.usage.rollUpExpiredCalls({ stopAt, onDay });
    return { ...POSTS_TABLES, ...(await sumByTable(this.expired(calls, stopAt), remove)) };
  }

  /** Child rows before their parents, such as comments before their post. */
  private async *expired(calls: DeletableRows, stopAt?: Date): AsyncGenerator<DeletableRows> {
    const now = this.clock.now();
    // The name of an hour, such as 2026-08-21T05. Names sort by time, as text.
    const firstStoredPeriod = hourOf(addMilliseconds(now, -JOB_RUNS_RETENTION_MS)).name;
    yield* this.oauth.expired();
    yield this.idempotency.expired();
    yield calls;
    yield this.audit.expired(now);
    yield this.runs.runsBefore('prune', firstStoredPeriod);
    yield this.runs.runsBefore('usage-rollup', firstStoredPeriod);
    yield this.comments.expired(now);
    for await (const ids of this.posts.expiredIds(now)) {
      if (this.shouldStop(stopAt)) return;
      yield this.comments.expiredOnPosts(ids, now);
      yield* this.posts.expired(ids, now);
    }
  }

  private shouldStop(stopAt: Date | undefined): boolean {
    return stopAt !== undefined && this.clock.now() >= stopAt;
  }
}
