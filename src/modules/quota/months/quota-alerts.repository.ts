import { Injectable } from '@nestjs/common';
import { LessThan, MoreThanOrEqual } from 'typeorm';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import type { Period } from '../quota-period.js';
import { QuotaUsage } from '../quota.entities.js';
import { postsAt, THRESHOLDS } from './quota-thresholds.js';

/** The highest threshold of each app and month that operators were told of. */
@Injectable()
export class QuotaAlertsRepository {
  /** False when as much was told before. */
  async raise(
    tx: Transaction,
    clientId: string,
    period: Period,
    threshold: number,
  ): Promise<boolean> {
    const { affected } = await entities(tx).update(
      QuotaUsage,
      { clientId, period, alerted: LessThan(threshold) },
      { alerted: threshold },
    );
    return affected === 1;
  }

  /** Forgets the thresholds that do not hold under this limit, so that they are told when they are reached again. */
  async lower(
    tx: Transaction,
    clientId: string,
    period: Period,
    limit: number | null,
  ): Promise<void> {
    for (const [at, threshold] of THRESHOLDS.entries()) {
      const used = LessThan(postsAt(threshold, limit));
      await entities(tx).update(
        QuotaUsage,
        { clientId, period, alerted: MoreThanOrEqual(threshold), used },
        { alerted: THRESHOLDS[at + 1] ?? 0 },
      );
    }
  }
}
