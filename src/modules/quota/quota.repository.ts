import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { entities, type Transaction } from '../../database/transaction.js';
import { AppQuota } from './app-quota.entity.js';
import type { Period } from './period.js';
import { QuotaUsage } from './quota-usage.entity.js';

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
    const update = entities(tx)
      .createQueryBuilder()
      .update(QuotaUsage)
      .set({ used: () => 'used + 1' })
      .where({ clientId, period });
    if (limit !== null) update.andWhere('used < :limit', { limit });
    const { affected } = await update.execute();
    return affected === 1;
  }

  isOpen(tx: Transaction, clientId: string, period: Period): Promise<boolean> {
    return entities(tx).existsBy(QuotaUsage, { clientId, period });
  }

  /** Opens the period at zero. @throws the driver's duplicate-key error when it is open */
  async open(tx: Transaction, clientId: string, period: Period): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(QuotaUsage)
      .values({ clientId, period, used: 0 })
      .updateEntity(false)
      .execute();
  }

  async findOpen(clientIds: string[], period: Period): Promise<string[]> {
    const rows = await this.dataSource.manager.find(QuotaUsage, {
      select: { clientId: true },
      where: { period, clientId: In(clientIds) },
    });
    return rows.map(({ clientId }) => clientId);
  }

  async findUsed(clientId: string, period: Period): Promise<number> {
    const usage = await this.dataSource.manager.findOneBy(QuotaUsage, { clientId, period });
    return usage?.used ?? 0;
  }

  findUsage(period: Period): Promise<QuotaUsage[]> {
    return this.dataSource.manager.find(QuotaUsage, {
      where: { period },
      order: { clientId: 'ASC' },
    });
  }

  findArrangement(clientId: string): Promise<AppQuota | null> {
    return this.dataSource.manager.findOneBy(AppQuota, { clientId });
  }

  async saveArrangement(tx: Transaction, quota: AppQuota): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId: quota.clientId });
    await entities(tx).insert(AppQuota, quota);
  }

  async removeArrangement(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId });
  }
}
