import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { UsersService } from '../users/users.service.js';
import { AuthorizationsRepository } from './authorize/authorizations.repository.js';
import { SignInRepository } from './sign-in/sign-in.repository.js';
import { GrantsService, type AppSummary } from './tokens/grants.service.js';

export interface EndedAccess {
  /** The apps that lost access. */
  apps: AppSummary[];
  /** Number of ended browser sessions. */
  sessions: number;
}

@Injectable()
export class UserAccess {
  constructor(
    private readonly grants: GrantsService,
    private readonly signIn: SignInRepository,
    private readonly authorizations: AuthorizationsRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Ends every grant, session, pending authorization and one-time password of a user in one transaction.
   * @param also runs in the same transaction
   * @throws UnknownUser
   */
  async end(
    userId: string,
    change: Change,
    also: (tx: Transaction) => Promise<void> = async () => undefined,
  ): Promise<EndedAccess> {
    const phone = await this.users.phoneOf(userId);
    let sessions = 0;
    const apps = await this.grants.revokeForUser(userId, 'all', change, async (tx) => {
      // Locks in the order of a sign-in. A concurrent sign-in then commits first, and its rows are deleted too.
      await this.signIn.deleteChallengesOf(tx, phone);
      sessions = await this.signIn.deleteSessionsOf(tx, userId);
      const pending = await this.authorizations.deleteForUser(tx, userId);
      if (sessions + pending > 0)
        await this.audit.record(tx, 'user.signed_out', userId, change, {
          sessions,
          begun: pending,
        });
      await also(tx);
    });
    return { apps, sessions };
  }
}
