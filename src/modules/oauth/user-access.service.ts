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

/** Ends all access to a user's account. */
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
   * Ends every grant, session, authorization request and one-time password of a user in one transaction.
   * @param also further changes in the same transaction
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
      // Runs before the grants are revoked, and locks rows in the same order as a sign-in. A concurrent sign-in either commits first,
      // and its rows are deleted too, or finds its one-time password deleted.
      await this.signIn.deleteChallengesOf(tx, phone);
      sessions = await this.signIn.deleteSessionsOf(tx, userId);
      const requests = await this.authorizations.deleteForUser(tx, userId);
      // `begun`, the number of deleted authorization requests, keeps its name because stored events have it.
      if (sessions + requests > 0)
        await this.audit.record(tx, 'user.signed_out', userId, change, {
          sessions,
          begun: requests,
        });
      await also(tx);
    });
    return { apps, sessions };
  }
}
