import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter } from 'prom-client';
import { PageError } from '../../../pages/page-errors.js';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import type { Scope } from '../../../platform/access/scopes.js';
import { newSecret, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import type { SignInUser } from '../../users/users.repository.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { GrantsRepository } from '../tokens/grants.repository.js';
import { GrantsService } from '../tokens/grants.service.js';
import { TokensRepository } from '../tokens/tokens.repository.js';
import { AuthorizationsRepository } from './authorizations.repository.js';
import { authorizationPage, type PendingAuthorization } from './authorizations.service.js';

/** The query parameter of the link from the short page to the consent page. */
export const CHANGE = 'change';

const DECISIONS = ['approved', 'denied'] as const;

/** Shows the consent page and stores the user's decision. Only the first decision on an authorization request counts. */
@Injectable()
export class ConsentService {
  private readonly decisions: Counter<'decision'>;

  constructor(
    private readonly authorizations: AuthorizationsRepository,
    private readonly grantsRepository: GrantsRepository,
    private readonly grants: GrantsService,
    private readonly tokens: TokensRepository,
    private readonly pages: OAuthPages,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
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
   * Sends the consent page, or a shorter one if the app already has everything that it requests, unless the app or the user demands
   * the consent page. Preselects the requested scopes, except those that the user withheld in the latest unrevoked grant.
   */
  async showPage(
    request: Request,
    response: Response,
    pending: PendingAuthorization,
    user: SignInUser,
    { isChange = false } = {},
  ): Promise<void> {
    if (pending.prompt === null && !isChange && (await this.hasEverything(pending, user))) {
      const { url } = authorizationPage(request, pending.id, 'consent');
      const consentPageUrl = `${url}${url.includes('?') ? '&' : '?'}${CHANGE}=1`;
      const choice = { scopes: pending.scopes, consentPageUrl };
      return this.pages.sendRepeatedConsentPage(response, pending, choice, user);
    }
    const latest = await this.grantsRepository.findLatestChoice(user.id, pending.app.clientId);
    const withheld = latest?.requested.filter((name) => !latest.granted.includes(name)) ?? [];
    const scopes = pending.scopes.map((name) => ({ name, checked: !withheld.includes(name) }));
    const choice = { scopes, hasEarlierGrant: latest !== null };
    this.pages.sendConsentPage(response, pending, choice, user);
  }

  private async hasEverything(
    { app, scopes }: PendingAuthorization,
    user: SignInUser,
  ): Promise<boolean> {
    const { clientId } = app;
    const grants = await this.grantsRepository.findActive(user.id, this.clock.now(), [clientId]);
    const granted = new Set(grants.flatMap((grant) => grant.scopes));
    return scopes.every((scope) => granted.has(scope));
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
    const { app, redirectUri, codeChallenge, scopes: requestedScopes } = pending;
    const code = newSecret('svcac');
    await this.transactions.run(async (tx) => {
      const now = await this.markDecided(tx, pending.id);
      const notAllowed = requestedScopes.filter((scope) => !grantedScopes.includes(scope));
      await this.grants.withdraw(tx, userId, app.clientId, notAllowed);
      const grant = await this.grants.create(
        tx,
        userId,
        app.clientId,
        grantedScopes,
        requestedScopes,
      );
      await this.tokens.insertCode(tx, {
        hash: sha256(code),
        grantId: grant.id,
        redirectUri,
        codeChallenge,
        createdAt: now,
        expiresAt: addMilliseconds(now, this.config.lifetimes.code * SECOND),
        consumedAt: null,
      });
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

  private async markDecided(tx: Transaction, id: string): Promise<Date> {
    const now = this.clock.now();
    if (!(await this.authorizations.markDecided(tx, id, now)))
      throw new PageError('already_answered');
    return now;
  }
}
