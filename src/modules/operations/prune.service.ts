import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ExpiredAuditEvents } from '../../platform/audit/audit-trail.repository.js';
import { Clock, DAY, later } from '../../platform/clock.js';
import {
  type BatchSettings,
  countByTable,
  deleteInBatches,
  type RowsByTable,
  totalOf,
} from '../../platform/database/retention/batches.js';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { Idempotency } from '../../platform/http/idempotency/idempotency.service.js';
import { PRUNE, USAGE_ROLLUP } from '../../platform/lifecycle/job-names.js';
import { hourOf, JobRunner } from '../../platform/lifecycle/job-runner.service.js';
import { JobRunsRepository } from '../../platform/lifecycle/job-runs.repository.js';
import { CommentsService } from '../comments/comments.service.js';
import { OAuthPruneService } from '../oauth/oauth-retention.js';
import { PostsService } from '../posts/posts.service.js';
import { UsageRollup } from '../quota/calls/usage-rollup.service.js';

const RUNS_MS = 90 * DAY;

/** Told like the others, also when no post is gone. */
const POSTS_TABLES: RowsByTable = { post_likes: 0, posts: 0 };

/** Deletes what has expired. Nothing depends on it but the size of the database. */
@Injectable()
export class Prune {
  constructor(
    private readonly oauth: OAuthPruneService,
    private readonly idempotency: Idempotency,
    private readonly usage: UsageRollup,
    private readonly audit: ExpiredAuditEvents,
    private readonly posts: PostsService,
    private readonly comments: CommentsService,
    private readonly runs: JobRunsRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** What a run would delete now. */
  async preview(): Promise<RowsByTable> {
    const counts = await countByTable(this.expired(this.usage.expiredCalls()), (rows) =>
      rows.count(),
    );
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
    const calls = await this.usage.countExpiredCalls(until);
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
    yield this.comments.expired(now);
    for await (const ids of this.posts.expiredIds(now)) {
      if (this.isOver(until)) return;
      yield this.comments.expiredOnPosts(ids, now);
      yield* this.posts.expired(ids, now);
    }
  }

  private isOver(until: Date | undefined): boolean {
    return until !== undefined && this.clock.now() >= until;
  }
}

/** Prunes in the service, once per hour among all of its processes. */
@Injectable()
export class PruneCron {
  constructor(
    private readonly prune: Prune,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: PRUNE, timeZone: 'UTC' })
  run(): Promise<void> {
    const { name: period, end } = hourOf(this.clock.now());
    return this.jobs.run({
      name: PRUNE,
      period,
      work: () => this.prune.run(end),
      tell: (deleted) => (totalOf(deleted) > 0 ? `Deleted ${sentence(deleted)}.` : undefined),
      whenItFails:
        'Pruning failed; only the database grows by it. The next hour tries again, and so does the command "prune".',
    });
  }
}

function sentence(deleted: RowsByTable): string {
  return Object.entries(deleted)
    .filter(([, rows]) => rows > 0)
    .map(([table, rows]) => `${rows} of ${table}`)
    .join(', ');
}
