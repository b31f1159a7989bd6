import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, MoreThan } from 'typeorm';
import { entities, type Transaction } from '../../../database/transaction.js';
import { OtpChallenge } from './otp-challenge.entity.js';

/** Guesses at one password. */
const MOST_ATTEMPTS = 5;

@Injectable()
export class OtpChallengesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether a password for this phone is still open in this request. */
  isOpen(authorizationId: string, phone: string, now: Date): Promise<boolean> {
    return this.dataSource.manager.existsBy(OtpChallenge, {
      authorizationId,
      phone,
      attempts: LessThan(MOST_ATTEMPTS),
      consumedAt: IsNull(),
      expiresAt: MoreThan(now),
    });
  }

  /** The request's only challenge from now on. */
  async replace(tx: Transaction, challenge: OtpChallenge): Promise<void> {
    await entities(tx).delete(OtpChallenge, { authorizationId: challenge.authorizationId });
    await entities(tx).insert(OtpChallenge, challenge);
  }

  /**
   * Counts an attempt before anything is compared, so that parallel guesses cannot exceed the limit.
   * @returns the challenge, or null when there is none that is open
   */
  async countAttempt(
    tx: Transaction,
    authorizationId: string,
    now: Date,
  ): Promise<OtpChallenge | null> {
    const { affected } = await entities(tx).increment(
      OtpChallenge,
      {
        authorizationId,
        attempts: LessThan(MOST_ATTEMPTS),
        consumedAt: IsNull(),
        expiresAt: MoreThan(now),
      },
      'attempts',
      1,
    );
    return affected === 1 ? entities(tx).findOneBy(OtpChallenge, { authorizationId }) : null;
  }

  /** False when it was consumed before: of two right answers, one signs in. */
  async consume(
    tx: Transaction,
    { authorizationId, codeHash }: OtpChallenge,
    now: Date,
  ): Promise<boolean> {
    const { affected } = await entities(tx).update(
      OtpChallenge,
      { authorizationId, codeHash, consumedAt: IsNull() },
      { consumedAt: now },
    );
    return affected === 1;
  }
}
