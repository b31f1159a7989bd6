import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { addMilliseconds, Clock, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { NotFound } from '../../../platform/errors.js';
import type { SessionView } from '../../../pages/views.js';
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

/** The sign-in sessions of a user, for operators and for the user. */
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
    return sessions.map((session) => {
      const { hash, createdAt, expiresAt } = session;
      const lastExtendedAt = extensionOf(session, this.idleMs);
      return { handle: handleOf(hash), createdAt, expiresAt, lastExtendedAt };
    });
  }

  /** What the user sees of their unexpired sessions, newest first. @param currentHash the session of this browser */
  async view(userId: string, currentHash: string): Promise<SessionView[]> {
    const sessions = await this.repository.findSessionsOf(userId, this.clock.now());
    return sessions.map(({ hash, createdAt, expiresAt }) => ({
      handle: handleOf(hash),
      isThisBrowser: hash === currentHash,
      signedInAt: createdAt,
      lastUsedAt: addMilliseconds(expiresAt, -this.idleMs),
    }));
  }

  /** @throws NotFound if the user has no such session */
  async find(userId: string, handle: string): Promise<SignInSession> {
    const session = await this.findByHandle(userId, handle);
    if (!session) throw unknownSession(userId, handle);
    return session;
  }

  /** Ends a session at once: its browser is signed out. @throws NotFound if it has ended meanwhile */
  async end(session: SignInSession, change: Change): Promise<void> {
    if (!(await this.delete(session, change)))
      throw unknownSession(session.userId, handleOf(session.hash));
  }

  /** Ends a session of the user, who asked for it. Returns false if there is none with this handle. */
  async endByUser(userId: string, handle: string): Promise<boolean> {
    const session = await this.findByHandle(userId, handle);
    const change = { actor: userId, reason: 'by the user' };
    return session !== undefined && (await this.delete(session, change));
  }

  private async findByHandle(userId: string, handle: string): Promise<SignInSession | undefined> {
    const sessions = await this.repository.findSessionsOf(userId, this.clock.now());
    return sessions.find(({ hash }) => handleOf(hash) === handle);
  }

  /** Returns false if the session has ended meanwhile. */
  private delete({ hash, userId }: SignInSession, change: Change): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      if (!(await this.repository.deleteSession(tx, hash))) return false;
      const details = { session: handleOf(hash) };
      await this.audit.record(tx, 'session.ended', userId, change, details);
      return true;
    });
  }

  private get idleMs(): number {
    return this.config.lifetimes.session * SECOND;
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
