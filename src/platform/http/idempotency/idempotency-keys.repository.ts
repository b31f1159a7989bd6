import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual } from 'typeorm';
import { isConflict, isDuplicateKey } from '../../database/errors.js';
import { withLockTimeout } from '../../database/mysql/lock-wait.js';
import { entities, type Transaction, TransactionRunner } from '../../database/transaction.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

/** How long a concurrent request with the same key waits. */
const LOCK_TIMEOUT_SECONDS = 1;

@Injectable()
export class IdempotencyKeysRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {}

  /** Reads committed rows only, so that a result that is rolled back is never replayed. */
  find(hash: string): Promise<IdempotencyKey | null> {
    return this.transactions.readCommitted(() =>
      this.dataSource.manager.findOneBy(IdempotencyKey, { hash }),
    );
  }

  /**
   * Inserts the key, or replaces an expired row.
   * @returns false if the key exists, is locked for longer than a second, or two requests insert it at the same time
   */
  async insert(
    tx: Transaction,
    row: IdempotencyKey,
    { replacesExpired }: { replacesExpired: boolean },
  ): Promise<boolean> {
    const { hash, createdAt: now } = row;
    const write = async (): Promise<void> => {
      const manager = entities(tx);
      if (replacesExpired)
        await manager.delete(IdempotencyKey, { hash, expiresAt: LessThanOrEqual(now) });
      await manager
        .createQueryBuilder()
        .insert()
        .into(IdempotencyKey)
        .values(row)
        .updateEntity(false)
        .execute();
    };
    try {
      await withLockTimeout(tx, LOCK_TIMEOUT_SECONDS, write);
      return true;
    } catch (error) {
      // If the transaction with the key rolls back, waiting transactions deadlock. A retry would deadlock again.
      if (isDuplicateKey(error) || isConflict(error)) return false;
      throw error;
    }
  }
}
