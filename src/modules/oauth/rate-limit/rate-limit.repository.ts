import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { type RawTime, storedTime } from '../../../platform/database/columns.js';
import { batched } from '../../../platform/database/batch-loader.js';
import {
  deletableRows,
  type DeletableRows,
} from '../../../platform/database/retention/deletion-queries.js';
import {
  padToPowerOfTwo,
  placeholdersFor,
  readRows,
  upsert,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { RateLimitHit } from './rate-limit.entities.js';

/** The slot of the row that transactions lock before they count the attempts of a key. */
export const LOCK_SLOT = new Date(0);

export interface Count {
  hits: number;
  /** Start of the oldest counted slot. */
  oldest: Date | null;
}

/** The hits of one hash in the slots after `afterSlot`. */
interface Window {
  hash: string;
  afterSlot: Date;
}

const NO_HITS: Count = { hits: 0, oldest: null };

@Injectable()
export class RateLimitRepository {
  private readonly countInBatch = batched((windows: readonly Window[]) =>
    this.countWindows(windows),
  );

  constructor(private readonly dataSource: DataSource) {}

  /** Hits in the slots after `afterSlot`. Outside of transactions, concurrent lookups share a statement. */
  async count(hash: string, afterSlot: Date, tx?: Transaction): Promise<Count> {
    if (!tx) return this.countInBatch({ hash, afterSlot });
    return (await countByHash(tx, [hash], afterSlot)).get(hash) ?? NO_HITS;
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

  rowsOf(hashes: readonly string[]): DeletableRows {
    const where = { hash: In(hashes) };
    return deletableRows(this.dataSource, RateLimitHit, { where, indexColumn: 'hash' });
  }

  /** Locks the attempts with this hash until the end of the transaction, by a write to their lock row. */
  lock(tx: Transaction, hash: string): Promise<void> {
    return upsert(tx, RateLimitHit, { hash, slot: LOCK_SLOT, hits: 0 });
  }

  /** Runs one statement for all windows with the same `afterSlot`. */
  private async countWindows(windows: readonly Window[]): Promise<Count[]> {
    const hashesBySlot = new Map<number, Set<string>>();
    for (const { hash, afterSlot } of windows) {
      const hashes = hashesBySlot.get(afterSlot.getTime()) ?? new Set();
      hashesBySlot.set(afterSlot.getTime(), hashes.add(hash));
    }
    const counts = new Map<number, ReadonlyMap<string, Count>>();
    for (const [afterSlot, hashes] of hashesBySlot)
      counts.set(afterSlot, await countByHash(this.dataSource, [...hashes], new Date(afterSlot)));
    return windows.map(
      ({ hash, afterSlot }) => counts.get(afterSlot.getTime())?.get(hash) ?? NO_HITS,
    );
  }
}

/** The counts by hash. Omits hashes without hits. `throttle_hits` is the table of `RateLimitHit`. */
async function countByHash(
  source: DataSource | Transaction,
  hashes: readonly string[],
  afterSlot: Date,
): Promise<ReadonlyMap<string, Count>> {
  const keys = padToPowerOfTwo(hashes);
  const statement = `
    SELECT hash, SUM(hits) AS hits, MIN(slot) AS oldest FROM throttle_hits
    WHERE slot > ? AND hits > 0 AND hash IN ${placeholdersFor(keys)} GROUP BY hash`;
  type Row = { hash: string; hits: number | string; oldest: RawTime };
  const rows = await readRows<Row>(source, statement, [afterSlot, ...keys]);
  return new Map(
    rows.map((row) => [row.hash, { hits: Number(row.hits), oldest: storedTime(row.oldest) }]),
  );
}
