import { Injectable } from '@nestjs/common';
import { DataSource, LessThan, MoreThan } from 'typeorm';
import { insertRow, upsert } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { TrustedDevice, SignInSession } from './sign-in.entities.js';

@Injectable()
export class SignInSessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  findLive(hash: string, now: Date): Promise<SignInSession | null> {
    return this.dataSource.manager.findOneBy(SignInSession, { hash, expiresAt: MoreThan(now) });
  }

  async insert(tx: Transaction, session: SignInSession): Promise<void> {
    await insertRow(tx, SignInSession, session);
  }

  /** Moves the end of a live session forward. */
  async prolong(tx: Transaction, hash: string, expiresAt: Date): Promise<void> {
    await entities(tx).update(
      SignInSession,
      { hash, expiresAt: LessThan(expiresAt) },
      { expiresAt },
    );
  }

  async delete(tx: Transaction, hash: string): Promise<void> {
    await entities(tx).delete(SignInSession, { hash });
  }

  /** Ends every session of a user; how many those were. */
  async deleteOf(tx: Transaction, userId: string): Promise<number> {
    const { affected } = await entities(tx).delete(SignInSession, { userId });
    return affected ?? 0;
  }
}

@Injectable()
export class TrustedDevicesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether somebody signed in with this phone in this browser before. */
  isKnown(browserHash: string, phone: string, tx?: Transaction): Promise<boolean> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.existsBy(TrustedDevice, { browserHash, phone });
  }

  /** The hashes of the browsers in which somebody signed in with this phone. */
  async findAll(phone: string): Promise<string[]> {
    const known = await this.dataSource.manager.findBy(TrustedDevice, { phone });
    return known.map(({ browserHash }) => browserHash);
  }

  remember(tx: Transaction, known: TrustedDevice): Promise<void> {
    return upsert(tx, TrustedDevice, known);
  }
}
