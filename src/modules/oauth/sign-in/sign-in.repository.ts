import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull, LessThan, MoreThan } from 'typeorm';
import { type RawTime, storedTime } from '../../../platform/database/columns.js';
import { insertRow, readRows, unchanged, upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import type { SignInUser } from '../../users/users.repository.js';
import { OtpChallenge, OtpFailures, SignInSession } from './sign-in.entities.js';

/** Guesses per one-time password. */
export const MAX_ATTEMPTS = 5;

interface SessionRow extends SignInUser {
  createdAt: RawTime;
  expiresAt: RawTime;
}

const FIND_SESSION = `
  SELECT session.created_at AS createdAt, session.expires_at AS expiresAt,
    users.id, users.name, users.phone, users.photo_url AS photoUrl
  FROM sign_in_sessions session
  JOIN users ON users.id = session.user_id AND users.status = 'active'
  WHERE session.hash = ? AND session.expires_at > ? AND users.phone IS NOT NULL`;

/** Sessions, one-time passwords, and the failures of a phone. */
@Injectable()
export class SignInRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Finds an unexpired session whose user is active and has a phone number. */
  async findSession(
    hash: string,
    now: Date,
  ): Promise<(Pick<SignInSession, 'createdAt' | 'expiresAt'> & { user: SignInUser }) | null> {
    const [row] = await readRows<SessionRow>(this.dataSource, FIND_SESSION, [hash, now]);
    if (!row) return null;
    const { createdAt, expiresAt, ...user } = row;
    return { createdAt: storedTime(createdAt), expiresAt: storedTime(expiresAt), user };
  }

  async insertSession(tx: Transaction, session: SignInSession): Promise<void> {
    await insertRow(tx, SignInSession, session);
  }

  async extendSession(tx: Transaction, hash: string, expiresAt: Date): Promise<void> {
    const where = { hash, expiresAt: LessThan(expiresAt) };
    await entities(tx).update(SignInSession, where, { expiresAt });
  }

  /** Finds the unexpired sessions of a user, newest first. */
  findSessionsOf(userId: string, now: Date): Promise<SignInSession[]> {
    const where = { userId, expiresAt: MoreThan(now) };
    return this.dataSource.manager.find(SignInSession, { where, order: { createdAt: 'DESC' } });
  }

  /** The number of rows that `deleteSessionsOf` would delete: it includes expired sessions. */
  countSessionsOf(userId: string): Promise<number> {
    return this.dataSource.manager.countBy(SignInSession, { userId });
  }

  /** Returns false if the session does not exist. */
  async deleteSession(tx: Transaction, hash: string): Promise<boolean> {
    const { affected } = await entities(tx).delete(SignInSession, { hash });
    return (affected ?? 0) > 0;
  }

  /** Returns the number of deleted sessions. */
  async deleteSessionsOf(tx: Transaction, userId: string): Promise<number> {
    const { affected } = await entities(tx).delete(SignInSession, { userId });
    return affected ?? 0;
  }

  /** Replaces the earlier challenge of the same browser and phone. */
  saveChallenge(tx: Transaction, challenge: OtpChallenge): Promise<void> {
    return upsert(tx, OtpChallenge, challenge);
  }

  /** Whether this challenge is committed and not replaced by another. Waits for a concurrent transaction that writes it. */
  async isStored(tx: Transaction, { id, codeHash }: OtpChallenge): Promise<boolean> {
    const where = { id, codeHash };
    const { affected } = await entities(tx).update(OtpChallenge, where, {
      codeHash: unchanged('code_hash'),
    });
    return affected === 1;
  }

  findChallenge(id: string): Promise<OtpChallenge | null> {
    return this.dataSource.manager.findOneBy(OtpChallenge, { id });
  }

  hasOpenChallenge(id: string, now: Date, tx?: Transaction): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(OtpChallenge, openChallenge(id, now));
  }

  /**
   * Counts the attempt before the comparison, so that concurrent attempts cannot exceed the limit. Returns null if no challenge is
   * open.
   */
  async countAttempt(tx: Transaction, id: string, now: Date): Promise<OtpChallenge | null> {
    const where = openChallenge(id, now);
    const { affected } = await entities(tx).increment(OtpChallenge, where, 'attempts', 1);
    return affected === 1 ? entities(tx).findOneBy(OtpChallenge, { id }) : null;
  }

  /** Returns false if the challenge was consumed before. */
  async consumeChallenge(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const where = { id, consumedAt: IsNull() };
    const { affected } = await entities(tx).update(OtpChallenge, where, { consumedAt: now });
    return affected === 1;
  }

  async deleteChallengesOf(tx: Transaction, phone: string): Promise<void> {
    await entities(tx).delete(OtpChallenge, { phone });
  }

  findFailures(phone: string): Promise<OtpFailures | null> {
    return this.dataSource.manager.findOneBy(OtpFailures, { phone });
  }

  /** Finds the row and locks it until the end of the transaction, by setting `lastAttemptAt`. */
  async findFailuresForUpdate(
    tx: Transaction,
    phone: string,
    now: Date,
  ): Promise<OtpFailures | null> {
    const { affected } = await entities(tx).update(OtpFailures, { phone }, { lastAttemptAt: now });
    return affected === 1 ? entities(tx).findOneBy(OtpFailures, { phone }) : null;
  }

  /** Like `findFailuresForUpdate`, but creates a missing row. */
  async upsertFailuresForUpdate(tx: Transaction, phone: string, now: Date): Promise<OtpFailures> {
    await upsert(tx, OtpFailures, { phone, lastAttemptAt: now });
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

/** An open challenge is neither expired nor consumed, and allows another attempt. */
function openChallenge(id: string, now: Date): FindOptionsWhere<OtpChallenge> {
  return {
    id,
    attempts: LessThan(MAX_ATTEMPTS),
    consumedAt: IsNull(),
    expiresAt: MoreThan(now),
  };
}
