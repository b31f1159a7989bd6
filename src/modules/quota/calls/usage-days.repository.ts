import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Transaction } from '../../../platform/database/transaction.js';
import { upsertAll } from '../../../platform/database/sql.js';
import { ApiUsageDaily } from '../quota.entities.js';

const ROWS_PER_STATEMENT = 200;

/** The totals of days. */
@Injectable()
export class UsageDaysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The newest day that has totals, such as `2026-11-21`. */
  async findNewest(): Promise<string | null> {
    const newest = await this.dataSource.manager.findOne(ApiUsageDaily, {
      select: { day: true },
      where: {},
      order: { day: 'DESC' },
    });
    return newest?.day ?? null;
  }

  findDay(day: string): Promise<ApiUsageDaily[]> {
    return this.dataSource.manager.findBy(ApiUsageDaily, { day });
  }

  /** Sets these totals, whether they were there or not. */
  async save(tx: Transaction, totals: readonly ApiUsageDaily[]): Promise<void> {
    for (let from = 0; from < totals.length; from += ROWS_PER_STATEMENT)
      await upsertAll(tx, ApiUsageDaily, totals.slice(from, from + ROWS_PER_STATEMENT));
  }
}
