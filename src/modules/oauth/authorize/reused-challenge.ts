import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import type { RegisteredApp } from '../clients/apps.service.js';
import { InvalidRequest } from '../protocol/oauth.errors.js';
import { AuthorizationCodesRepository } from '../tokens/authorization-codes.repository.js';
import type { AuthorizationRequest } from './authorize-checks.js';
import { AuthorizationRefused } from '../protocol/authorization-response.js';

/**
 * Notices an app that uses one challenge again and again, which protects nobody (RFC 9700 §2.1.1). Before a code was issued,
 * a repeated challenge is a page that was loaded again.
 */
@Injectable()
export class ReusedChallenge {
  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
  ) {}

  /**
   * Writes it down and, where the operator wants so, refuses it.
   * @param isKept false to write nothing
   * @throws AuthorizationRefused
   */
  async check(
    { app, redirectUri, state, codeChallenge }: AuthorizationRequest,
    isKept: boolean,
  ): Promise<void> {
    if (codeChallenge === null) return;
    if (!(await this.codes.wasIssuedFor(app.clientId, codeChallenge))) return;
    const refused = this.config.authorize.refuseReusedChallenge;
    if (isKept) await this.writeDown(app, refused);
    if (refused) {
      const error = new InvalidRequest('code_challenge was used before: make a new one each time.');
      throw new AuthorizationRefused(redirectUri, state, error);
    }
  }

  private writeDown({ clientId }: RegisteredApp, refused: boolean): Promise<void> {
    const change = { actor: 'service', reason: 'the code_challenge led to a code before' };
    return this.transactions.run((tx) =>
      this.audit.record(tx, 'authorization.challenge_reused', clientId, change, { refused }),
    );
  }
}
