import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, MoreThan } from 'typeorm';
import { isDuplicateKey } from '../../../common/database-faults.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { OtpChallenge } from './otp-challenge.entity.js';

/** Guesses at one password. */
const MOST_ATTEMPTS = 5;

@Injectable()
export class OtpChallengesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether a password for this phone is still open in this transaction. */
  isOpen(transactionId: string, phone: string, now: Date): Promise<boolean> {
    return this.dataSource.manager.existsBy(OtpChallenge, {
      transactionId,
      phone,
      attempts: LessThan(MOST_ATTEMPTS),
      consumedAt: IsNull(),
      expiresAt: MoreThan(now),
    });
  }

  /** The transaction's only challenge from now on. */
  async replace(tx: Transaction, challenge: OtpChallenge): Promise<void> {
    if (await this.overwrite(tx, challenge)) return;
    try {
      await entities(tx).insert(OtpChallenge, challenge);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.overwrite(tx, challenge);
    }
  }

  /**
   * Counts an attempt before anything is compared, so that parallel guesses cannot exceed the limit.
   * @returns the challenge, or null when there is none that is open
   */
  async countAttempt(
    tx: Transaction,
    transactionId: string,
    now: Date,
  ): Promise<OtpChallenge | null> {
    const { affected } = await entities(tx).increment(
      OtpChallenge,
      {
        transactionId,
        attempts: LessThan(MOST_ATTEMPTS),
        consumedAt: IsNull(),
        expiresAt: MoreThan(now),
      },
      'attempts',
      1,
    );
    return affected === 1 ? entities(tx).findOneBy(OtpChallenge, { transactionId }) : null;
  }

  /** False when it was consumed before: of two right answers, one signs in. */
  async consume(
    tx: Transaction,
    { transactionId, codeHash }: Pick<OtpChallenge, 'transactionId' | 'codeHash'>,
    now: Date,
  ): Promise<boolean> {
    const { affected } = await entities(tx).update(
      OtpChallenge,
      { transactionId, codeHash, consumedAt: IsNull() },
      { consumedAt: now },
    );
    return affected === 1;
  }

  private async overwrite(tx: Transaction, challenge: OtpChallenge): Promise<boolean> {
    const { transactionId, ...fields } = challenge;
    const { affected } = await entities(tx).update(OtpChallenge, { transactionId }, fields);
    return affected === 1;
  }
}
