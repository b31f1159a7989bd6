import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual } from 'typeorm';
import { BatchLoader } from '../../database/batch-loader.js';
import { type RawTime, storedTime } from '../../database/columns.js';
import { isConflict, isDuplicateKey } from '../../database/errors.js';
import { insertAll } from '../../database/sql.js';
import { entities, type Transaction, TransactionRunner } from '../../database/transaction.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

/** A concurrent request with the same key waits for a second. */
const SHORTEN_LOCK_TIMEOUT =
  'SET @default_lock_timeout = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = 1';
const RESTORE_LOCK_TIMEOUT = 'SET SESSION innodb_lock_wait_timeout = @default_lock_timeout';

const FIND =
  'SELECT hash, request_hash AS requestHash, made AS result, expires_at AS expiresAt FROM idempotency_keys WHERE';

type StoredResult = Pick<IdempotencyKey, 'hash' | 'requestHash' | 'result' | 'expiresAt'>;
type StoredResultRow = Omit<StoredResult, 'expiresAt'> & { expiresAt: RawTime };

@Injectable()
export class IdempotencyKeysRepository {
  private readonly keys: BatchLoader<StoredResultRow>;

  constructor(
    dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {
    this.keys = new BatchLoader(dataSource, FIND, { hash: 'hash' });
  }

  /** Reads committed rows only, so that a result that is rolled back is never replayed. */
  async find(hash: string): Promise<StoredResult | undefined> {
    const row = await this.transactions.readCommitted(() => this.keys.find(hash));
    return row && { ...row, expiresAt: storedTime(row.expiresAt) };
  }

  async deleteExpired(hash: string, now: Date): Promise<void> {
    const expired = { hash, expiresAt: LessThanOrEqual(now) };
    await this.transactions.run((tx) => entities(tx).delete(IdempotencyKey, expired));
  }

  /** Returns false if a key exists, is locked for longer than a second, or two transactions insert it at the same time. */
  async insertAll(tx: Transaction, rows: readonly IdempotencyKey[]): Promise<boolean> {
    const manager = entities(tx);
    // SQLite has no row locks.
    const hasLockTimeout = manager.dataSource.options.type !== 'better-sqlite3';
    // Not in the `try`: if it fails, there is nothing to restore.
    if (hasLockTimeout) await manager.query(SHORTEN_LOCK_TIMEOUT);
    try {
      await insertAll(tx, IdempotencyKey, rows);
      return true;
    } catch (error) {
      // If the transaction with the key rolls back, waiting transactions deadlock. A retry would deadlock again.
      if (isDuplicateKey(error) || isConflict(error)) return false;
      throw error;
    } finally {
      if (hasLockTimeout) await manager.query(RESTORE_LOCK_TIMEOUT);
    }
  }
}
