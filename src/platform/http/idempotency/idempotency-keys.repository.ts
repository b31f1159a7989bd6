import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual } from 'typeorm';
import { isConflict, isDuplicateKey } from '../../database/errors.js';
import { waitingAtMost } from '../../database/mysql/lock-wait.js';
import {
  type Person,
  PersonalData,
  personalRows,
  type PersonalRows,
} from '../../database/retention/data-subject.js';
import { expiredRows, type ExpiredRows } from '../../database/retention/expired-rows.js';
import { entities, type Transaction, TransactionRunner } from '../../database/transaction.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

/** So long a second request waits for the end of the first. */
const LOCK_WAIT_SECONDS = 1;

@Injectable()
export class IdempotencyKeysRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {}

  /** What is committed: an answer that is still to be rolled back must not be given again. */
  find(hash: string): Promise<IdempotencyKey | null> {
    return this.transactions.readCommitted(() =>
      this.dataSource.manager.findOneBy(IdempotencyKey, { hash }),
    );
  }

  /** The rows of keys that may be used anew. */
  expired(before: Date): ExpiredRows {
    const expiresAt = LessThanOrEqual(before);
    return expiredRows(this.dataSource, IdempotencyKey, { expiresAt }, 'expiresAt');
  }

  /**
   * Takes the key, also from a row that has expired. Waits for a unit that holds it.
   * @returns false when the key is taken, still held after a second, or wanted by others at the same moment
   */
  async take(tx: Transaction, row: IdempotencyKey, hasExpiredRow: boolean): Promise<boolean> {
    const { hash, createdAt: now } = row;
    const insert = async (): Promise<void> => {
      const manager = entities(tx);
      if (hasExpiredRow)
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
      await waitingAtMost(tx, LOCK_WAIT_SECONDS, insert);
      return true;
    } catch (error) {
      // When the unit that holds the key is rolled back, those that wait for it deadlock: to try again would be to deadlock again.
      if (isDuplicateKey(error) || isConflict(error)) return false;
      throw error;
    }
  }
}

@Injectable()
export class IdempotencyPersonalData extends PersonalData {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    const omit = ['hash', 'requestHash', 'userId'] as const;
    return [personalRows(this.dataSource, IdempotencyKey, [{ userId }], omit)];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [expiredRows(this.dataSource, IdempotencyKey, { userId }, 'userId')];
  }
}
