import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { storedTime } from '../../../database/columns.js';
import { expiredRows, type ExpiredRows } from '../../../database/expired-rows.js';
import { readRows } from '../../../database/statements.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { upsert } from '../../../database/upsert.js';
import { ThrottleHit } from './throttle-hit.entity.js';

/** The row of a key that is only ever locked: whoever counts goes through it first. */
export const GATE = new Date(0);

export interface Count {
  hits: number;
  /** Start of the oldest slot that was counted. */
  oldest: Date | null;
}

interface RawCount {
  hits: number | string | null;
  oldest: Date | string | null;
}

const COUNT =
  'SELECT SUM(hits) AS hits, MIN(slot) AS oldest FROM throttle_hits WHERE hash = ? AND slot > ? AND hits > 0';

@Injectable()
export class ThrottleRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Hits in the slots after `since`. */
  async count(hash: string, since: Date, tx?: Transaction): Promise<Count> {
    const [row] = await readRows<RawCount>(tx ?? this.dataSource, COUNT, [hash, since]);
    const oldest = row?.oldest ?? null;
    return { hits: Number(row?.hits ?? 0), oldest: oldest === null ? null : storedTime(oldest) };
  }

  /** Adds a hit to a slot of a key that this transaction has locked. */
  async add(tx: Transaction, hash: string, slot: Date): Promise<void> {
    const { affected } = await entities(tx).increment(ThrottleHit, { hash, slot }, 'hits', 1);
    if (affected !== 1) await entities(tx).insert(ThrottleHit, { hash, slot, hits: 1 });
  }

  /** Takes one hit back, if the slot still holds one. */
  async remove(tx: Transaction, hash: string, slot: Date): Promise<void> {
    await entities(tx).decrement(ThrottleHit, { hash, slot, hits: MoreThan(0) }, 'hits', 1);
  }

  /** The rows of these keys. */
  ofKeys(hashes: () => Promise<string[]>): ExpiredRows {
    const ofHashes = async (): Promise<ExpiredRows> =>
      expiredRows(this.dataSource, ThrottleHit, { hash: In(await hashes()) }, 'hash');
    return {
      ...expiredRows(this.dataSource, ThrottleHit, {}, 'hash'),
      count: async () => (await ofHashes()).count(),
      keys: async (limit) => (await ofHashes()).keys(limit),
    };
  }

  /** Makes the other transactions that count this key wait until this one ends. */
  lock(tx: Transaction, hash: string): Promise<void> {
    return upsert(tx, ThrottleHit, { hash, slot: GATE, hits: 0 });
  }
}
