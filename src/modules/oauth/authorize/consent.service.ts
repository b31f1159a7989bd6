import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { PageError } from '../../../pages/page-errors.js';
import type { Scope } from '../../../platform/access/scopes.js';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import { GrantsService } from '../tokens/grants.service.js';
import { TokenIssuer } from '../tokens/token-issuer.js';
import { AuthorizationsRepository } from './authorizations.repository.js';
import type { PendingAuthorization } from './authorizations.service.js';

const DECISIONS = ['approved', 'denied'] as const;

/** Stores the user's decision. Only the first decision on an authorization request counts. */
@Injectable()
export class ConsentService {
  private readonly decisions: Counter<'decision'>;

  constructor(
    private readonly authorizations: AuthorizationsRepository,
    private readonly grants: GrantsService,
    private readonly issuer: TokenIssuer,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    { registry }: Metrics,
  ) {
    this.decisions = new Counter({
      name: 'oauth_consents_total',
      help: 'Decisions of users on authorization requests: approved or denied.',
      labelNames: ['decision'],
      registers: [registry],
    });
    for (const decision of DECISIONS) this.decisions.inc({ decision }, 0);
  }

  /**
   * Creates a grant and returns an authorization code for it (RFC 6749 §4.1.2). The user's earlier grants to the app lose the scopes
   * that were requested now and not allowed.
   * @throws PageError when the authorization request was already decided
   */
  async approve(
    pending: PendingAuthorization,
    userId: string,
    grantedScopes: readonly Scope[],
  ): Promise<string> {
    const { id, app, scopes: requestedScopes } = pending;
    const { clientId } = app;
    const code = await this.transactions.run(async (tx) => {
      await this.markDecided(tx, id);
      const notAllowed = requestedScopes.filter((scope) => !grantedScopes.includes(scope));
      await this.grants.withdraw(tx, userId, clientId, notAllowed);
      const grant = await this.grants.create(tx, userId, clientId, grantedScopes, requestedScopes);
      return this.issuer.issueCode(tx, grant, pending);
    });
    this.decisions.inc({ decision: 'approved' });
    return code;
  }

  /** @throws PageError when the authorization request was already decided */
  async deny({ id, app }: PendingAuthorization, userId: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.markDecided(tx, id);
      await this.audit.record(tx, 'authorization.denied', app.clientId, { actor: userId });
    });
    this.decisions.inc({ decision: 'denied' });
  }

  private async markDecided(tx: Transaction, id: string): Promise<void> {
    if (!(await this.authorizations.markDecided(tx, id, this.clock.now())))
      throw new PageError('already_answered');
  }
}
