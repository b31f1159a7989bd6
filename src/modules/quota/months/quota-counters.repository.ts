import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { unchanged } from '../../../platform/database/sql.js';
import type { Period } from '../quota-period.js';
import { QuotaUsage } from '../quota.entities.js';

/** The counters that publishes add to, for whoever checks them. */
@Injectable()
export class QuotaCountersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** What each app has used, by client id. */
  async findUsed(period: Period): Promise<ReadonlyMap<string, number>> {
    const rows = await this.dataSource.manager.find(QuotaUsage, {
      select: { clientId: true, period: true, used: true },
      where: { period },
    });
    return new Map(rows.map(({ clientId, used }) => [clientId, used]));
  }

  /**
   * Makes publishes of this app wait until the unit ends. A write that changes nothing, because SQLite has no other lock.
   * @returns the counter, or null when it is not open: then there is nothing to hold
   */
  async hold(tx: Transaction, clientId: string, period: Period): Promise<number | null> {
    const key = { clientId, period };
    const { affected } = await entities(tx).update(QuotaUsage, key, { used: unchanged('used') });
    if (affected !== 1) return null;
    const { used } = await entities(tx).findOneByOrFail(QuotaUsage, key);
    return used;
  }

  async change(tx: Transaction, clientId: string, period: Period, used: number): Promise<void> {
    await entities(tx).update(QuotaUsage, { clientId, period }, { used });
  }
}
