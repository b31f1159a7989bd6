import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan } from 'typeorm';
import { type RawTime, storedTime } from '../../../platform/database/columns.js';
import { readRows, upsertAll } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { LOCK_SLOT, RateLimitHit } from './rate-limit.entities.js';

/** The slots of a hash after `afterSlot`. */
interface Window {
  hash: string;
  afterSlot: Date;
}

interface Count {
  hits: number;
  /** Start of the oldest counted slot. */
  oldest: Date;
}

/** The table `throttle_hits`. */
@Injectable()
export class RateLimitRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Counts the hits in each window with one statement. The result has no entry for a hash without hits. */
  async count(windows: readonly Window[], tx?: Transaction): Promise<ReadonlyMap<string, Count>> {
    if (windows.length === 0) return new Map();
    const statement = `
      SELECT hash, SUM(hits) AS hits, MIN(slot) AS oldest FROM throttle_hits
      WHERE hits > 0 AND (${windows.map(() => 'hash = ? AND slot > ?').join(' OR ')}) GROUP BY hash`;
    const values = windows.flatMap(({ hash, afterSlot }) => [hash, afterSlot]);
    type Row = { hash: string; hits: number | string; oldest: RawTime };
    const rows = await readRows<Row>(tx ?? this.dataSource, statement, values);
    return new Map(
      rows.map((row) => [row.hash, { hits: Number(row.hits), oldest: storedTime(row.oldest) }]),
    );
  }

  /** Adds a hit. The transaction must have called `lock` for the hash. */
  async add(tx: Transaction, hash: string, slot: Date): Promise<void> {
    const { affected } = await entities(tx).increment(RateLimitHit, { hash, slot }, 'hits', 1);
    if (affected !== 1) await entities(tx).insert(RateLimitHit, { hash, slot, hits: 1 });
  }

  /** Removes a hit, if the slot has one. */
  async remove(tx: Transaction, hash: string, slot: Date): Promise<void> {
    await entities(tx).decrement(RateLimitHit, { hash, slot, hits: MoreThan(0) }, 'hits', 1);
  }

  /** Locks the hashes until the end of the transaction, in this order, by a write to their lock rows. */
  lock(tx: Transaction, hashes: readonly string[]): Promise<void> {
    const rows = hashes.map((hash) => ({ hash, slot: LOCK_SLOT, hits: 0 }));
    return upsertAll(tx, RateLimitHit, rows);
  }
}
