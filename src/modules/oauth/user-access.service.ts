import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { UsersService } from '../users/users.service.js';
import { AuthorizationsRepository } from './authorize/authorizations.repository.js';
import { OtpChallengesRepository } from './sign-in/otp.repository.js';
import { SignInSessionsRepository } from './sign-in/sessions.repository.js';
import { GrantsService, type AppName } from './tokens/grants.service.js';

/** What was ended: the apps that lost access, and in how many browsers the user had been signed in. */
export interface EndedAccess {
  apps: AppName[];
  sessions: number;
}

/** Everything that opens a user's account. */
@Injectable()
export class UserAccess {
  constructor(
    private readonly grants: GrantsService,
    private readonly sessions: SignInSessionsRepository,
    private readonly authorizations: AuthorizationsRepository,
    private readonly challenges: OtpChallengesRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Ends every grant, sign-in session, begun authorization and one-time password of a user in one unit.
   * @param also what else happens in the unit
   * @throws UnknownUser
   */
  async end(
    userId: string,
    change: Change,
    also: (tx: Transaction) => Promise<void> = async () => undefined,
  ): Promise<EndedAccess> {
    const phone = await this.users.phoneOf(userId);
    let sessions = 0;
    const apps = await this.grants.revokeOf(userId, 'all', change, async (tx) => {
      // In the order of a sign-in, so that one under way ends first, and what it made goes with the rest.
      await this.challenges.deleteOf(tx, phone);
      sessions = await this.sessions.deleteOf(tx, userId);
      const begun = await this.authorizations.deleteOf(tx, userId);
      if (sessions + begun > 0)
        await this.audit.record(tx, 'user.signed_out', userId, change, { sessions, begun });
      await also(tx);
    });
    return { apps, sessions };
  }
}
