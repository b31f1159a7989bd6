import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { insertRow } from '../../database/insert.js';
import { readRows, writeRows } from '../../database/statements.js';
import { entities, type Transaction } from '../../database/transaction.js';
import { insertMissing } from '../../database/upsert.js';
import { AppQuota } from './app-quota.entity.js';
import type { Period } from './period.js';
import { QuotaUsage } from './quota-usage.entity.js';

const COUNT_ONE = 'UPDATE quota_usage SET used = used + 1 WHERE client_id = ? AND period = ?';
const SPEND_ONE = `${COUNT_ONE} AND used < ?`;
const FIND_USED = 'SELECT used FROM quota_usage WHERE client_id = ? AND period = ?';

@Injectable()
export class QuotaRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds one to the period's count unless the limit (null: none) is reached. One statement: no read-then-write.
   * False means spent, or no row of the period yet.
   */
  async spendOne(
    tx: Transaction,
    clientId: string,
    period: Period,
    limit: number | null,
  ): Promise<boolean> {
    const affected =
      limit === null
        ? await writeRows(tx, COUNT_ONE, [clientId, period])
        : await writeRows(tx, SPEND_ONE, [clientId, period, limit]);
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
    const values = [clientId, period];
    const [usage] = await readRows<Pick<QuotaUsage, 'used'>>(this.dataSource, FIND_USED, values);
    return usage?.used ?? 0;
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

  async saveArrangement(tx: Transaction, quota: AppQuota): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId: quota.clientId });
    await insertRow(tx, AppQuota, quota);
  }

  async removeArrangement(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId });
  }
}
