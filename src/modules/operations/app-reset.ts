import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, Or } from 'typeorm';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import {
  type BatchSettings,
  childRows,
  countRows,
  deletableRows,
  type DeletableRows,
  deleteRows,
  type RowsByTable,
} from '../../platform/database/deletable-rows.js';
import { rowsInPages } from '../../platform/database/rows-in-pages.js';
import { entities, TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest } from '../../platform/errors.js';
import { IdempotencyKey } from '../../platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../comments/comment.entity.js';
import { AppsService, type RegisteredApp } from '../oauth/clients/apps.service.js';
import { WebhookEvent } from '../events/event.entities.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../oauth/tokens/token.entities.js';
import { Post, PostLike } from '../posts/post.entities.js';
import { ApiCall, ApiUsageDaily, QuotaUsage } from '../quota/quota.entities.js';
import { User } from '../users/user.entity.js';
import { removeComments, removePosts } from './counted-rows.js';
import { CALL_LOG_DELAY_MS } from './personal-data.js';

type Ids = readonly { id: string }[];

/** Deletes what a test app has stored: posts, comments, grants and usage. Its registration, secrets, quota and members stay. */
@Injectable()
export class AppReset {
  constructor(
    private readonly dataSource: DataSource,
    private readonly apps: AppsService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound; InvalidRequest for the app of a partner */
  async testApp(clientId: string): Promise<RegisteredApp> {
    const app = await this.apps.get(clientId);
    if (!app.test)
      throw new InvalidRequest(
        `"${app.name}" is not a test app, so its data is real and cannot be reset. To end its access, use "app revoke-all ${clientId}".`,
      );
    return app;
  }

  /** The number of rows that a reset would delete, by table. */
  preview(clientId: string): Promise<RowsByTable> {
    return countRows(this.rowsOf(clientId));
  }

  /**
   * Revokes the grants first, so that later requests are rejected. Then deletes in batches. Requests that have begun may still add rows:
   * another reset deletes them. An interrupted reset can be repeated.
   * @param counts the result of `preview`, for the audit event
   * @returns the number of deleted rows by table
   */
  async reset(
    clientId: string,
    counts: RowsByTable,
    { change, onBatch }: Pick<BatchSettings, 'onBatch'> & { change: Change },
  ): Promise<RowsByTable> {
    if (Object.values(counts).every((count) => count === 0)) return counts;
    const revokedAt = this.clock.now();
    await this.transactions.run(async (tx) => {
      await entities(tx).update(Grant, { clientId, revokedAt: IsNull() }, { revokedAt });
      await this.audit.record(tx, 'app.reset', clientId, change, counts);
    });
    await sleep(CALL_LOG_DELAY_MS);
    return deleteRows(this.transactions, this.rowsOf(clientId), { onBatch });
  }

  /** Child rows before their parents. An index by user finds the rows that have none by app: only test members use test apps. */
  private rowsOf(clientId: string): DeletableRows[] {
    const { dataSource } = this;
    const columns = ['id'] as const;
    const members = () =>
      rowsInPages(dataSource, User, [{ testCodeHash: Not(IsNull()) }], { columns });
    const posts = () => rowsInPages(dataSource, Post, postsOf(members(), clientId), { columns });
    const grants = () => rowsInPages(dataSource, Grant, [{ clientId }], { columns });
    const ofOthers = { clientId: Or(IsNull(), Not(clientId)) };
    const commentsOfOthers = childRows(dataSource, posts, Comment, 'postId', { where: ofOthers });
    return [
      childRows(dataSource, grants, AuthorizationCode, 'grantId'),
      childRows(dataSource, grants, AccessToken, 'grantId'),
      childRows(dataSource, grants, RefreshToken, 'grantId'),
      deletableRows(dataSource, Grant, { clientId }),
      childRows(dataSource, members, IdempotencyKey, 'userId', { where: { clientId } }),
      childRows(dataSource, members, Comment, 'userId', {
        where: { clientId },
        remove: removeComments,
      }),
      { ...commentsOfOthers, table: `${commentsOfOthers.table}_of_others` },
      childRows(dataSource, posts, PostLike, 'postId'),
      childRows(dataSource, members, Post, 'userId', { where: { clientId }, remove: removePosts }),
      deletableRows(dataSource, ApiCall, { clientId }),
      deletableRows(dataSource, ApiUsageDaily, { clientId }),
      deletableRows(dataSource, QuotaUsage, { clientId }),
      deletableRows(dataSource, WebhookEvent, { clientId }),
    ];
  }
}

/** The conditions for the posts of an app, by author. Two for each, because the index is sorted by id within each of them. */
async function* postsOf(members: AsyncIterable<Ids>, clientId: string) {
  for await (const page of members)
    for (const { id: userId } of page) {
      yield { userId, clientId, deletedAt: IsNull() };
      yield { userId, clientId, deletedAt: Not(IsNull()) };
    }
}
