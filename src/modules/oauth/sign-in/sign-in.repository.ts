import { Injectable } from '@nestjs/common';
import {
  And,
  DataSource,
  type FindOptionsWhere,
  In,
  IsNull,
  LessThan,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Raw,
} from 'typeorm';
import { floorTo, HOUR } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type RawTime, storedTime } from '../../../platform/database/columns.js';
import {
  insertMissing,
  insertRow,
  readRows,
  unchanged,
  upsert,
} from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import type { SignInUser } from '../../users/users.repository.js';
import {
  failuresKey,
  OtpChallenge,
  OtpCount,
  OtpFailures,
  OtpPause,
  type OtpResult,
  SignInSession,
} from './sign-in.entities.js';

interface SessionRow extends SignInUser {
  createdAt: RawTime;
  expiresAt: RawTime;
}

const FIND_SESSION = `
  SELECT session.created_at AS createdAt, session.expires_at AS expiresAt,
    users.id, users.name, users.phone, users.photo_url AS photoUrl,
    users.test_code_hash AS testCodeHash
  FROM sign_in_sessions session
  JOIN users ON users.id = session.user_id AND users.status = 'active'
  WHERE session.hash = ? AND session.expires_at > ? AND users.phone IS NOT NULL`;

/** The id of the only pause. */
const ALL = 'all';
/** Of the shortest numbers with their country code. */
const MIN_E164_DIGITS = 7;

/** Sessions, one-time passwords with their counts and their pause, and the failures of a phone. */
@Injectable()
export class SignInRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: AppConfig,
  ) {}

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

  findOpenChallenge(id: string, now: Date): Promise<OtpChallenge | null> {
    return this.dataSource.manager.findOneBy(OtpChallenge, openChallenge(id, now));
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

  /** The row of this version, and that of version 1.1, if there are both. */
  findFailures(phone: string): Promise<OtpFailures[]> {
    return this.dataSource.manager.findBy(OtpFailures, { phone: In(this.failuresKeys(phone)) });
  }

  /** Finds the row and locks it until the end of the transaction, by setting `lastAttemptAt`. */
  async findFailuresForUpdate(
    tx: Transaction,
    number: string,
    now: Date,
  ): Promise<OtpFailures | null> {
    const phone = await this.adoptFailures(tx, number);
    const { affected } = await entities(tx).update(OtpFailures, { phone }, { lastAttemptAt: now });
    return affected === 1 ? entities(tx).findOneBy(OtpFailures, { phone }) : null;
  }

  /** Like `findFailuresForUpdate`, but creates a missing row. */
  async upsertFailuresForUpdate(tx: Transaction, number: string, now: Date): Promise<OtpFailures> {
    const phone = await this.adoptFailures(tx, number);
    await upsert(tx, OtpFailures, { phone, lastAttemptAt: now });
    return entities(tx).findOneByOrFail(OtpFailures, { phone });
  }

  async updateFailures(
    tx: Transaction,
    number: string,
    values: Pick<OtpFailures, 'failures' | 'lockedUntil'>,
  ): Promise<void> {
    const phone = failuresKey(this.config, number);
    await entities(tx).update(OtpFailures, { phone }, values);
  }

  async deleteFailures(tx: Transaction, phone: string): Promise<void> {
    await entities(tx).delete(OtpFailures, { phone: In(this.failuresKeys(phone)) });
  }

  /**
   * Replaces the row that version 1.1 stored under the number by one under its hash. Returns the hash. Not needed once no process of
   * version 1.1 runs and `Retention` has replaced all rows.
   */
  async adoptFailures(tx: Transaction, number: string): Promise<string> {
    const phone = failuresKey(this.config, number);
    const old = await entities(tx).findOneBy(OtpFailures, { phone: number });
    if (!old || (await entities(tx).delete(OtpFailures, { phone: number })).affected !== 1)
      return phone;
    const own = await entities(tx).findOneBy(OtpFailures, { phone });
    const failures = old.failures + (own?.failures ?? 0);
    const lockedUntil = own?.lockedUntil ?? old.lockedUntil;
    const { lastAttemptAt } = old;
    await upsert(tx, OtpFailures, { phone, failures, lastAttemptAt, lockedUntil });
    return phone;
  }

  /** Finds numbers (E.164) that version 1.1 stored. */
  async findNumbersWithFailures(limit: number): Promise<string[]> {
    const rows = await this.dataSource.manager.find(OtpFailures, {
      // An index finds the range; hashes are not in it.
      where: { phone: And(MoreThan('+'), LessThan(','), Like(`+${'_'.repeat(MIN_E164_DIGITS)}%`)) },
      take: limit,
    });
    return rows.map(({ phone }) => phone);
  }

  private failuresKeys(phone: string): string[] {
    return [failuresKey(this.config, phone), phone];
  }

  /** Whether an operator paused all one-time passwords. */
  isPaused(): Promise<boolean> {
    return this.dataSource.manager.existsBy(OtpPause, { id: ALL });
  }

  /** Returns false if they were paused already. */
  async pause(tx: Transaction, pausedAt: Date): Promise<boolean> {
    // Waits for a concurrent command.
    await insertMissing(tx, OtpPause, [{ id: ALL, pausedAt }]);
    return entities(tx).existsBy(OtpPause, { id: ALL, pausedAt });
  }

  /** Returns false if they were not paused. */
  async resume(tx: Transaction): Promise<boolean> {
    return (await entities(tx).delete(OtpPause, { id: ALL })).affected === 1;
  }

  /** Adds 1 or -1 to the count of a result, in the hour of the request for the one-time password. */
  async count(
    tx: Transaction,
    { requestedAt, ...key }: Pick<OtpCount, 'country' | 'clientId'> & { requestedAt: Date },
    result: OtpResult,
    difference: 1 | -1 = 1,
  ): Promise<void> {
    const row = { ...key, result, hour: floorTo(requestedAt, HOUR) };
    // First, because an UPDATE without a row locks nothing, so that two transactions would insert the row.
    await insertMissing(tx, OtpCount, [{ ...row, total: 0 }]);
    await entities(tx).increment(OtpCount, row, 'total', difference);
  }

  /** The counts of the hour of `since` and of later ones. */
  findCounts(since: Date): Promise<OtpCount[]> {
    const hour = MoreThanOrEqual(floorTo(since, HOUR));
    return this.dataSource.manager.findBy(OtpCount, { hour });
  }
}

/** An open challenge is neither expired nor consumed, and allows another attempt. */
function openChallenge(id: string, now: Date): FindOptionsWhere<OtpChallenge> {
  return {
    id,
    attempts: Raw((attempts) => `${attempts} < max_attempts`),
    consumedAt: IsNull(),
    expiresAt: MoreThan(now),
  };
}
