import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { storedTime } from '../../../platform/database/columns.js';
import { batched } from '../../../platform/database/batch-loader.js';
import {
  expiredRows,
  type ExpiredRows,
} from '../../../platform/database/retention/expired-rows.js';
import {
  padToPowerOfTwo,
  placeholdersFor,
  readRows,
  upsert,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { RateLimitHit } from './rate-limit.entity.js';

/** The row of a key that is only ever locked: whoever counts goes through it first. */
export const GATE = new Date(0);

export interface Count {
  hits: number;
  /** Start of the oldest slot that was counted. */
  oldest: Date | null;
}

interface Wanted {
  hash: string;
  since: Date;
}

interface RawCount {
  hash: string;
  hits: number | string;
  oldest: Date | string;
}

const NO_HITS: Count = { hits: 0, oldest: null };

@Injectable()
export class RateLimitRepository {
  private readonly countBatched = batched((wanted: readonly Wanted[]) => this.countEach(wanted));

  constructor(private readonly dataSource: DataSource) {}

  /** Hits in the slots after `since`; of the keys that are asked for at the same time, by one statement. */
  count(hash: string, since: Date): Promise<Count> {
    return this.countBatched({ hash, since });
  }

  /** The same as the transaction sees it. */
  async countIn(tx: Transaction, hash: string, since: Date): Promise<Count> {
    return (await countAll(tx, [hash], since)).get(hash) ?? NO_HITS;
  }

  /** Adds a hit to a slot of a key that this transaction has locked. */
  async add(tx: Transaction, hash: string, slot: Date): Promise<void> {
    const { affected } = await entities(tx).increment(RateLimitHit, { hash, slot }, 'hits', 1);
    if (affected !== 1) await entities(tx).insert(RateLimitHit, { hash, slot, hits: 1 });
  }

  /** Takes one hit back, if the slot still holds one. */
  async remove(tx: Transaction, hash: string, slot: Date): Promise<void> {
    await entities(tx).decrement(RateLimitHit, { hash, slot, hits: MoreThan(0) }, 'hits', 1);
  }

  /** The rows of these keys. */
  ofKeys(hashes: () => Promise<string[]>): ExpiredRows {
    const ofHashes = async (): Promise<ExpiredRows> =>
      expiredRows(this.dataSource, RateLimitHit, { hash: In(await hashes()) }, 'hash');
    return {
      ...expiredRows(this.dataSource, RateLimitHit, {}, 'hash'),
      count: async () => (await ofHashes()).count(),
      keys: async (limit) => (await ofHashes()).keys(limit),
    };
  }

  /** Makes the other transactions that count this key wait until this one ends. */
  lock(tx: Transaction, hash: string): Promise<void> {
    return upsert(tx, RateLimitHit, { hash, slot: GATE, hits: 0 });
  }

  /** Keys whose windows begin at the same time by one statement. */
  private async countEach(wanted: readonly Wanted[]): Promise<Count[]> {
    const windows = new Map<number, { since: Date; hashes: Set<string> }>();
    for (const { hash, since } of wanted) {
      const window = windows.get(since.getTime()) ?? { since, hashes: new Set() };
      windows.set(since.getTime(), window);
      window.hashes.add(hash);
    }
    const counts = new Map<number, ReadonlyMap<string, Count>>();
    for (const [start, { since, hashes }] of windows)
      counts.set(start, await countAll(this.dataSource, [...hashes], since));
    return wanted.map(({ hash, since }) => counts.get(since.getTime())?.get(hash) ?? NO_HITS);
  }
}

/** By hash, where there are hits. */
async function countAll(
  source: DataSource | Transaction,
  hashes: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, Count>> {
  const keys = padToPowerOfTwo(hashes);
  const statement = `
    SELECT hash, SUM(hits) AS hits, MIN(slot) AS oldest FROM throttle_hits
    WHERE slot > ? AND hits > 0 AND hash IN ${placeholdersFor(keys)} GROUP BY hash`;
  const rows = await readRows<RawCount>(source, statement, [since, ...keys]);
  return new Map(
    rows.map(({ hash, hits, oldest }) => [
      hash,
      { hits: Number(hits), oldest: storedTime(oldest) },
    ]),
  );
}
