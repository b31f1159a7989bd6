import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../common/clock.js';
import { newId } from '../../../common/ids.js';
import { formatScope, type Scope } from '../../../common/scopes.js';
import { AppConfig } from '../../../config/app-config.js';
import type { Transaction } from '../../../database/transaction.js';
import type { Grant } from './grant.entity.js';
import { GrantsRepository } from './grants.repository.js';

/** Writes down what a user granted an app. */
@Injectable()
export class GrantOpener {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** `requested` is what the app had asked for, where the user could refuse some of it. */
  async open(
    tx: Transaction,
    userId: string,
    clientId: string,
    scopes: readonly Scope[],
    requested: readonly Scope[] = scopes,
  ): Promise<Grant> {
    const now = this.clock.now();
    const grant: Grant = {
      id: newId('grt', now),
      userId,
      clientId,
      scope: formatScope(scopes),
      requestedScope: formatScope(requested),
      createdAt: now,
      expiresAt: later(now, this.config.lifetimes.grant * SECOND),
      revokedAt: null,
      lastUsedAt: null,
    };
    await this.grants.insert(tx, grant);
    await this.audit.record(
      tx,
      'grant.created',
      grant.id,
      { actor: userId },
      { clientId, scope: grant.scope },
    );
    return grant;
  }
}
