import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { addMilliseconds, Clock, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { NotFound } from '../../../platform/errors.js';
import { UsersService } from '../../users/users.service.js';
import type { SignInSession } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';
import { MAX_SESSION_MS } from './sign-in.service.js';

/** Hex digits of the hash of a session that identify it among those of its user. */
const HANDLE_LENGTH = 12;

export interface UserSession {
  /** The first 12 hex digits of the hash of the session. */
  handle: string;
  createdAt: Date;
  expiresAt: Date;
  /** The last use that extended the session. Null if there is none, or if it is unknown. */
  lastExtendedAt: Date | null;
}

/** The sign-in sessions of a user, for operators. */
@Injectable()
export class UserSessions {
  constructor(
    private readonly repository: SignInRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** The unexpired sessions, newest first. @throws UnknownUser */
  async list(userId: string): Promise<UserSession[]> {
    await this.users.get(userId);
    const sessions = await this.repository.findSessionsOf(userId, this.clock.now());
    const idleMs = this.config.lifetimes.session * SECOND;
    return sessions.map((session) => {
      const { hash, createdAt, expiresAt } = session;
      const lastExtendedAt = extensionOf(session, idleMs);
      return { handle: handleOf(hash), createdAt, expiresAt, lastExtendedAt };
    });
  }

  /** @throws NotFound if the user has no such session */
  async find(userId: string, handle: string): Promise<SignInSession> {
    const sessions = await this.repository.findSessionsOf(userId, this.clock.now());
    const session = sessions.find(({ hash }) => handleOf(hash) === handle);
    if (!session) throw unknownSession(userId, handle);
    return session;
  }

  /** Ends a session at once: its browser is signed out. @throws NotFound if it has ended meanwhile */
  async end({ hash, userId }: SignInSession, change: Change): Promise<void> {
    const handle = handleOf(hash);
    const isDeleted = await this.transactions.run(async (tx) => {
      if (!(await this.repository.deleteSession(tx, hash))) return false;
      await this.audit.record(tx, 'session.ended', userId, change, { session: handle });
      return true;
    });
    if (!isDeleted) throw unknownSession(userId, handle);
  }
}

function handleOf(hash: string): string {
  return hash.slice(0, HANDLE_LENGTH);
}

/**
 * Each use sets the expiry to `idleMs` later, at most 12 hours after the sign-in. At this maximum, the time of the last use is unknown.
 * @param idleMs lifetime of an unused session
 */
export function extensionOf(
  { createdAt, expiresAt }: Pick<SignInSession, 'createdAt' | 'expiresAt'>,
  idleMs: number,
): Date | null {
  const latest = addMilliseconds(createdAt, MAX_SESSION_MS);
  const extendedAt = addMilliseconds(expiresAt, -idleMs);
  return expiresAt < latest && extendedAt > createdAt ? extendedAt : null;
}

function unknownSession(userId: string, handle: string): NotFound {
  return new NotFound(
    `${userId} has no sign-in session "${handle}". "session list --user ${userId}" prints the sessions.`,
  );
}
