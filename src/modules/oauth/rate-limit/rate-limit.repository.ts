import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan, Not } from 'typeorm';
import { type RawTime, storedTime } from '../../../platform/database/columns.js';
import { readRows, upsertAll, upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { sha256 } from '../../../platform/secrets.js';
import { LOCK_SLOT, RateLimitHit, TrustedDevice } from './rate-limit.entities.js';

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

/** Locks any text until the end of the transaction, by a write to a lock row. Transactions that lock the same text run one by one. */
export function lockText(tx: Transaction, text: string): Promise<void> {
  return lockHashes(tx, [sha256(text)]);
}

function lockHashes(tx: Transaction, hashes: readonly string[]): Promise<void> {
  const rows = hashes.map((hash) => ({ hash, slot: LOCK_SLOT, hits: 0 }));
  return upsertAll(tx, RateLimitHit, rows);
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
    return lockHashes(tx, hashes);
  }
}

/**
 * Trusted devices: browsers that signed in with a phone before. Limits that strangers can exhaust do not apply to them, or count them
 * separately. `browserHash` is the SHA-256 of the browser's cookie; the phone is E.164. The table is `known_browsers`.
 */
@Injectable()
export class TrustedDevicesRepository {
  constructor(private readonly dataSource: DataSource) {}

  isTrusted(browserHash: string, phone: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(TrustedDevice, { browserHash, phone });
  }

  /** Whether someone signed in with this browser before, whatever the phone number. */
  isTrustedBrowser(browserHash: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(TrustedDevice, { browserHash });
  }

  save(tx: Transaction, device: TrustedDevice): Promise<void> {
    return upsert(tx, TrustedDevice, device);
  }

  /** Counts a wrong one-time password of the device. Returns the number of consecutive ones; 0 if the device is not trusted. */
  async countFailure(tx: Transaction, browserHash: string, phone: string): Promise<number> {
    const device = { browserHash, phone };
    await entities(tx).increment(TrustedDevice, device, 'failures', 1);
    return (await entities(tx).findOneBy(TrustedDevice, device))?.failures ?? 0;
  }

  async delete(tx: Transaction, browserHash: string, phone: string): Promise<void> {
    await entities(tx).delete(TrustedDevice, { browserHash, phone });
  }

  /** @param exceptHash a browser that remains trusted */
  async deleteAllOf(tx: Transaction, phone: string, exceptHash?: string): Promise<void> {
    const browserHash = exceptHash === undefined ? undefined : Not(exceptHash);
    await entities(tx).delete(TrustedDevice, { phone, ...(browserHash && { browserHash }) });
  }
}
