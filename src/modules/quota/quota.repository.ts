import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { insertMissing, insertRow, writeRows, unchanged } from '../../platform/database/sql.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { AppQuota, QuotaUsage } from './quota.entities.js';
import type { Period } from './quota-period.js';

const COUNT = 'UPDATE quota_usage SET used = used + ? WHERE client_id = ? AND period = ?';
const SPEND = `${COUNT} AND used <= ?`;
const FIND_USED = 'SELECT client_id AS clientId, period, used FROM quota_usage WHERE';

@Injectable()
export class QuotaRepository {
  private readonly usages: BatchLoader<Pick<QuotaUsage, 'used'>>;

  constructor(private readonly dataSource: DataSource) {
    this.usages = new BatchLoader(dataSource, FIND_USED, {
      clientId: 'client_id',
      period: 'period',
    });
  }

  /**
   * Adds so many posts to the period's count unless they exceed the limit (null: none). One statement: no read-then-write.
   * False means that they do, or that the period has no row yet.
   */
  async spend(
    tx: Transaction,
    clientId: string,
    period: Period,
    limit: number | null,
    posts: number,
  ): Promise<boolean> {
    const affected =
      limit === null
        ? await writeRows(tx, COUNT, [posts, clientId, period])
        : await writeRows(tx, SPEND, [posts, clientId, period, limit - posts]);
    return affected === 1;
  }

  isOpen(tx: Transaction, clientId: string, period: Period): Promise<boolean> {
    return entities(tx).existsBy(QuotaUsage, { clientId, period });
  }

  /** Opens the period at zero for these apps, at least one, unless somebody has. */
  async open(tx: Transaction, clientIds: readonly string[], period: Period): Promise<void> {
    const rows = clientIds.map((clientId) => ({ clientId, period, used: 0 }));
    await insertMissing(tx, QuotaUsage, rows);
  }

  async findUsed(clientId: string, period: Period): Promise<number> {
    return (await this.usages.find(clientId, period))?.used ?? 0;
  }

  /** What every app used in a month, or at most `limit` of them, by client id after `after`. */
  findUsage(period: Period, page?: { after: string; limit: number }): Promise<QuotaUsage[]> {
    return this.dataSource.manager.find(QuotaUsage, {
      where: { period, ...(page && { clientId: MoreThan(page.after) }) },
      order: { clientId: 'ASC' },
      take: page?.limit,
    });
  }

  /** The arrangements of these apps, or all, by client id. */
  async findArrangements(clientIds?: readonly string[]): Promise<ReadonlyMap<string, AppQuota>> {
    const rows = await this.dataSource.manager.find(AppQuota, {
      where: clientIds && { clientId: In(clientIds) },
    });
    return new Map(rows.map((row) => [row.clientId, row]));
  }

  findArrangement(clientId: string, tx?: Transaction): Promise<AppQuota | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findOneBy(AppQuota, { clientId });
  }

  /**
   * Locks the row of the app, if there is one. A write that changes nothing, because SQLite has no other lock and refuses a
   * transaction that reads before another process writes.
   */
  async lockArrangement(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).update(AppQuota, { clientId }, { plan: unchanged('plan') });
  }

  async saveArrangement(tx: Transaction, quota: AppQuota): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId: quota.clientId });
    await insertRow(tx, AppQuota, quota);
  }

  async removeArrangement(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId });
  }
}
