import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull, LessThan, MoreThan } from 'typeorm';
import { insertRow, unchanged, upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { OtpChallenge, OtpFailures, SignInSession, TrustedDevice } from './sign-in.entities.js';

/** Per password. */
const MAX_ATTEMPTS = 5;

/** Sessions, trusted devices, one-time passwords and the failures of a phone. */
@Injectable()
export class SignInRepository {
  constructor(private readonly dataSource: DataSource) {}

  findSession(hash: string, now: Date): Promise<SignInSession | null> {
    return this.dataSource.manager.findOneBy(SignInSession, { hash, expiresAt: MoreThan(now) });
  }

  async insertSession(tx: Transaction, session: SignInSession): Promise<void> {
    await insertRow(tx, SignInSession, session);
  }

  async extendSession(tx: Transaction, hash: string, expiresAt: Date): Promise<void> {
    const where = { hash, expiresAt: LessThan(expiresAt) };
    await entities(tx).update(SignInSession, where, { expiresAt });
  }

  async deleteSession(tx: Transaction, hash: string): Promise<void> {
    await entities(tx).delete(SignInSession, { hash });
  }

  /** Returns the number of deleted sessions. */
  async deleteSessionsOf(tx: Transaction, userId: string): Promise<number> {
    const { affected } = await entities(tx).delete(SignInSession, { userId });
    return affected ?? 0;
  }

  isTrustedDevice(browserHash: string, phone: string, tx?: Transaction): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(TrustedDevice, { browserHash, phone });
  }

  findTrustedDevices(phone: string): Promise<TrustedDevice[]> {
    return this.dataSource.manager.findBy(TrustedDevice, { phone });
  }

  saveTrustedDevice(tx: Transaction, device: TrustedDevice): Promise<void> {
    return upsert(tx, TrustedDevice, device);
  }

  /** Replaces the earlier challenge of the same sign-in. */
  saveChallenge(tx: Transaction, challenge: OtpChallenge): Promise<void> {
    return upsert(tx, OtpChallenge, challenge);
  }

  /** Waits for a concurrent transaction that writes the challenge. False if another challenge has replaced it. */
  async isStored(tx: Transaction, { transactionId, codeHash }: OtpChallenge): Promise<boolean> {
    const where = { transactionId, codeHash };
    const { affected } = await entities(tx).update(OtpChallenge, where, {
      codeHash: unchanged('code_hash'),
    });
    return affected === 1;
  }

  findOpenChallenge(transactionId: string, now: Date): Promise<OtpChallenge | null> {
    return this.dataSource.manager.findOneBy(OtpChallenge, openChallenge(transactionId, now));
  }

  hasOpenChallenge(
    transactionId: string,
    phone: string,
    now: Date,
    tx?: Transaction,
  ): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(OtpChallenge, { ...openChallenge(transactionId, now), phone });
  }

  /** Counts the attempt before the comparison, so that parallel guesses cannot exceed the limit. Null if no challenge is open. */
  async countAttempt(
    tx: Transaction,
    transactionId: string,
    phone: string,
    now: Date,
  ): Promise<OtpChallenge | null> {
    const where = { ...openChallenge(transactionId, now), phone };
    const { affected } = await entities(tx).increment(OtpChallenge, where, 'attempts', 1);
    return affected === 1 ? entities(tx).findOneBy(OtpChallenge, { transactionId }) : null;
  }

  /** False if the challenge was consumed before. */
  async consumeChallenge(tx: Transaction, transactionId: string, now: Date): Promise<boolean> {
    const where = { transactionId, consumedAt: IsNull() };
    const { affected } = await entities(tx).update(OtpChallenge, where, { consumedAt: now });
    return affected === 1;
  }

  async deleteChallengesOf(tx: Transaction, phone: string): Promise<void> {
    await entities(tx).delete(OtpChallenge, { phone });
  }

  findFailures(phone: string): Promise<OtpFailures | null> {
    return this.dataSource.manager.findOneBy(OtpFailures, { phone });
  }

  /** Locks the row until the end of the transaction. */
  async lockFailures(tx: Transaction, phone: string, now: Date): Promise<OtpFailures | null> {
    const { affected } = await entities(tx).update(OtpFailures, { phone }, { lastAt: now });
    return affected === 1 ? entities(tx).findOneBy(OtpFailures, { phone }) : null;
  }

  /** Like `lockFailures`, but creates a missing row. */
  async lockOrCreateFailures(tx: Transaction, phone: string, now: Date): Promise<OtpFailures> {
    await upsert(tx, OtpFailures, { phone, lastAt: now });
    return entities(tx).findOneByOrFail(OtpFailures, { phone });
  }

  async updateFailures(
    tx: Transaction,
    phone: string,
    values: Pick<OtpFailures, 'failures' | 'lockedUntil'>,
  ): Promise<void> {
    await entities(tx).update(OtpFailures, { phone }, values);
  }

  async deleteFailures(tx: Transaction, phone: string): Promise<void> {
    await entities(tx).delete(OtpFailures, { phone });
  }
}

function openChallenge(transactionId: string, now: Date): FindOptionsWhere<OtpChallenge> {
  return {
    transactionId,
    attempts: LessThan(MAX_ATTEMPTS),
    consumedAt: IsNull(),
    expiresAt: MoreThan(now),
  };
}
