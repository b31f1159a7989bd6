import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import type { Scope } from '../../../platform/access/scopes.js';
import { newSecret, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { AuthorizationsRepository } from './authorizations.repository.js';
import type { Pending } from './authorizations.service.js';
import { GrantsService } from '../tokens/grants.service.js';
import { alreadyAnswered } from '../protocol/page-error.js';
import { TokensRepository } from '../tokens/tokens.repository.js';

/** The user's answer to an authorization request. Of several answers to one request, exactly one counts. */
@Injectable()
export class ConsentService {
  constructor(
    private readonly authorizations: AuthorizationsRepository,
    private readonly grants: GrantsService,
    private readonly tokens: TokensRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Grants the scopes to the app and returns an authorization code for its redirect (RFC 6749 §4.1.2).
   * @throws PageError when the request was answered before
   */
  async approve(request: Pending, userId: string, scopes: readonly Scope[]): Promise<string> {
    const { app, redirectUri, codeChallenge } = request;
    const code = newSecret('svcac');
    await this.transactions.run(async (tx) => {
      const now = await this.answer(tx, request);
      const { id: grantId } = await this.grants.open(
        tx,
        userId,
        app.clientId,
        scopes,
        request.scopes,
      );
      const expiresAt = later(now, this.config.lifetimes.code * SECOND);
      const hash = sha256(code);
      await this.tokens.insertCode(tx, {
        hash,
        grantId,
        redirectUri,
        codeChallenge,
        createdAt: now,
        expiresAt,
        consumedAt: null,
      });
    });
    return code;
  }

  /** @throws PageError when the request was answered before */
  async deny(request: Pending, userId: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.answer(tx, request);
      await this.audit.record(tx, 'authorization.denied', request.app.clientId, { actor: userId });
    });
  }

  private async answer(tx: Transaction, { id }: Pending): Promise<Date> {
    const now = this.clock.now();
    if (!(await this.authorizations.markAnswered(tx, id, now))) throw alreadyAnswered();
    return now;
  }
}
