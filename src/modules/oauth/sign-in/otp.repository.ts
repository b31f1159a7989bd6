import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull, LessThan, MoreThan } from 'typeorm';
import { unchanged, upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { OtpChallenge, OtpFailures } from './sign-in.entities.js';

/** Guesses at one password. */
const MOST_ATTEMPTS = 5;

@Injectable()
export class OtpChallengesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether a password for this phone is still open in this transaction. */
  isOpen(transactionId: string, phone: string, now: Date, tx?: Transaction): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(OtpChallenge, { ...open(transactionId, now), phone });
  }

  /** Whether it is there, and no other has taken its place. Waits for a transaction that still makes it. */
  async isStored(tx: Transaction, { transactionId, codeHash }: OtpChallenge): Promise<boolean> {
    const { affected } = await entities(tx).update(
      OtpChallenge,
      { transactionId, codeHash },
      { codeHash: unchanged('code_hash') },
    );
    return affected === 1;
  }

  /** The challenge of this transaction, if it may still be met. */
  findOpen(transactionId: string, now: Date): Promise<OtpChallenge | null> {
    return this.dataSource.manager.findOneBy(OtpChallenge, open(transactionId, now));
  }

  /** The transaction's only challenge from now on. */
  replace(tx: Transaction, challenge: OtpChallenge): Promise<void> {
    return upsert(tx, OtpChallenge, challenge);
  }

  /**
   * Counts an attempt before anything is compared, so that parallel guesses cannot exceed the limit.
   * @returns the challenge, or null when none for this phone is open
   */
  async countAttempt(
    tx: Transaction,
    transactionId: string,
    phone: string,
    now: Date,
  ): Promise<OtpChallenge | null> {
    const condition = { ...open(transactionId, now), phone };
    const { affected } = await entities(tx).increment(OtpChallenge, condition, 'attempts', 1);
    return affected === 1 ? entities(tx).findOneBy(OtpChallenge, { transactionId }) : null;
  }

  /** False when it was consumed before: of two right answers, one signs in. */
  async consume(tx: Transaction, transactionId: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      OtpChallenge,
      { transactionId, consumedAt: IsNull() },
      { consumedAt: now },
    );
    return affected === 1;
  }

  /** Forgets every password for this phone. */
  async deleteOf(tx: Transaction, phone: string): Promise<void> {
    await entities(tx).delete(OtpChallenge, { phone });
  }
}

function open(transactionId: string, now: Date): FindOptionsWhere<OtpChallenge> {
  return {
    transactionId,
    attempts: LessThan(MOST_ATTEMPTS),
    consumedAt: IsNull(),
    expiresAt: MoreThan(now),
  };
}

@Injectable()
export class OtpFailuresRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(phone: string): Promise<OtpFailures | null> {
    return this.dataSource.manager.findOneBy(OtpFailures, { phone });
  }

  /** The row of this phone, which no other transaction changes until this one ends, or null when there is none. */
  async hold(tx: Transaction, phone: string, now: Date): Promise<OtpFailures | null> {
    const { affected } = await entities(tx).update(OtpFailures, { phone }, { lastAt: now });
    return affected === 1 ? entities(tx).findOneBy(OtpFailures, { phone }) : null;
  }

  /** The same, with a row that counts nothing where there was none. */
  async open(tx: Transaction, phone: string, now: Date): Promise<OtpFailures> {
    await upsert(tx, OtpFailures, { phone, lastAt: now });
    return entities(tx).findOneByOrFail(OtpFailures, { phone });
  }

  /** Changes the row that this transaction holds. */
  async count(
    tx: Transaction,
    phone: string,
    counted: Pick<OtpFailures, 'failures' | 'lockedUntil'>,
  ): Promise<void> {
    await entities(tx).update(OtpFailures, { phone }, counted);
  }

  /** False when nothing was counted. */
  async delete(tx: Transaction, phone: string): Promise<boolean> {
    const { affected } = await entities(tx).delete(OtpFailures, { phone });
    return affected === 1;
  }
}
