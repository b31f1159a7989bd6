import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan } from 'typeorm';
import { storedTime } from '../../../platform/database/columns.js';
import { Batch, type PendingRequest } from '../../../platform/database/batch-loader.js';
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
  private readonly counts: Batch<Wanted, Count>;

  constructor(private readonly dataSource: DataSource) {
    this.counts = new Batch((asked) => this.countAsked(asked));
  }

  /** Hits in the slots after `since`; of the keys that are asked for at the same time, by one statement. */
  count(hash: string, since: Date): Promise<Count> {
    return this.counts.add({ hash, since });
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
  private async countAsked(asked: readonly PendingRequest<Wanted, Count>[]): Promise<void> {
    const windows = new Map<number, PendingRequest<Wanted, Count>[]>();
    for (const one of asked) {
      const since = one.item.since.getTime();
      const some = windows.get(since) ?? [];
      some.push(one);
      windows.set(since, some);
    }
    await Promise.all([...windows.values()].map((some) => this.countWindow(some)));
  }

  private async countWindow(asked: readonly PendingRequest<Wanted, Count>[]): Promise<void> {
    const [{ item: first }] = asked as [PendingRequest<Wanted, Count>];
    const hashes = new Set(asked.map(({ item }) => item.hash));
    try {
      const counts = await countAll(this.dataSource, [...hashes], first.since);
      for (const { item, answer } of asked) answer(counts.get(item.hash) ?? NO_HITS);
    } catch (error) {
      for (const { refuse } of asked) refuse(error);
    }
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
