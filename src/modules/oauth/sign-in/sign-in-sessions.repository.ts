import { Injectable } from '@nestjs/common';
import { DataSource, LessThan, MoreThan } from 'typeorm';
import { insertRow } from '../../../database/insert.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { SignInSession } from './sign-in-session.entity.js';

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
