import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThan, MoreThan } from 'typeorm';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import type { Period } from '../quota-period.js';
import { QuotaUsage } from '../quota.entities.js';

/** The months of all apps. */
@Injectable()
export class QuotaMonthsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async addUp(period: Period): Promise<{ apps: number; posts: number }> {
    const row = await this.dataSource.manager
      .createQueryBuilder(QuotaUsage, 'usage')
      .select('COUNT(*)', 'apps')
      .addSelect('SUM(usage.used)', 'posts')
      .where({ period })
      .getRawOne<{ apps: string | number; posts: string | number | null }>();
    return { apps: Number(row?.apps ?? 0), posts: Number(row?.posts ?? 0) };
  }

  /** The months before `period` that were not closed for everybody. */
  async findUnclosedPeriods(period: Period): Promise<Period[]> {
    const rows = await this.dataSource.manager
      .createQueryBuilder(QuotaUsage, 'usage')
      .select('usage.period', 'period')
      .where({ period: LessThan(period), closedAt: IsNull() })
      .groupBy('usage.period')
      .getRawMany<{ period: Period }>();
    return rows.map((row) => row.period).toSorted();
  }

  /** At most `limit` apps whose month is not closed, by client id after `after`. */
  async findUnclosed(period: Period, after: string, limit: number): Promise<string[]> {
    const rows = await this.dataSource.manager.find(QuotaUsage, {
      select: { clientId: true, period: true },
      where: { period, closedAt: IsNull(), clientId: MoreThan(after) },
      order: { clientId: 'ASC' },
      take: limit,
    });
    return rows.map(({ clientId }) => clientId);
  }

  /** How many were closed now: what is closed stays as it is. */
  async close(
    tx: Transaction,
    period: Period,
    clientIds: readonly string[],
    closed: Pick<QuotaUsage, 'closedPlan' | 'closedLimit' | 'closedAt'>,
  ): Promise<number> {
    const { affected } = await entities(tx).update(
      QuotaUsage,
      { period, clientId: In(clientIds), closedAt: IsNull() },
      closed,
    );
    return affected ?? 0;
  }
}
