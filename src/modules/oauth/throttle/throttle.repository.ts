import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan } from 'typeorm';
import { isDuplicateKey } from '../../../common/database-faults.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { ThrottleHit } from './throttle-hit.entity.js';

/** The row of a key that is only ever locked: whoever counts exactly goes through it first. */
export const GATE = new Date(0);

export interface Count {
  hits: number;
  /** Start of the oldest slot that was counted. */
  oldest: Date | null;
}

@Injectable()
export class ThrottleRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Hits in the slots after `since`. */
  async count(hash: string, since: Date, tx?: Transaction): Promise<Count> {
    const slots = await (tx ? entities(tx) : this.dataSource.manager).find(ThrottleHit, {
      where: { hash, slot: MoreThan(since), hits: MoreThan(0) },
      order: { slot: 'ASC' },
    });
    return { hits: slots.reduce((sum, { hits }) => sum + hits, 0), oldest: slots[0]?.slot ?? null };
  }

  async add(tx: Transaction, hash: string, slot: Date): Promise<void> {
    if (await this.increment(tx, hash, slot)) return;
    try {
      await entities(tx).insert(ThrottleHit, { hash, slot, hits: 1 });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.increment(tx, hash, slot);
    }
  }

  /** Takes one hit back, if the slot still holds one. */
  async remove(tx: Transaction, hash: string, slot: Date): Promise<void> {
    await entities(tx).decrement(ThrottleHit, { hash, slot, hits: MoreThan(0) }, 'hits', 1);
  }

  /** Makes the other transactions that count this key exactly wait until this one ends. */
  lock(tx: Transaction, hash: string): Promise<void> {
    return this.add(tx, hash, GATE);
  }

  private async increment(tx: Transaction, hash: string, slot: Date): Promise<boolean> {
    const { affected } = await entities(tx).increment(ThrottleHit, { hash, slot }, 'hits', 1);
    return affected === 1;
  }
}
