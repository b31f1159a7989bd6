import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import type { Scope } from '../../../platform/access/scopes.js';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { sha256 } from '../../../platform/secrets.js';
import { Metrics, modeOf } from '../../../platform/observability/metrics.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { SignInUser } from '../../users/users.repository.js';
import { EventOutbox } from '../../events/event-outbox.service.js';
import { GrantsService } from '../tokens/grants.service.js';
import { TokenIssuer } from '../tokens/token-issuer.js';
import { APPS_PAGE, withParameter } from '../browser/page-state.js';
import { userView } from '../sign-in/sign-in.service.js';
import { GrantsRepository } from '../tokens/grants.repository.js';
import { AuthorizationsRepository } from './authorizations.repository.js';
import { type PendingAuthorization, authorizationPage } from './authorizations.service.js';

const DECISIONS = ['approved', 'denied'] as const;

/** Stores the user's decision. Only the first decision on an authorization request counts. */
@Injectable()
export class ConsentService {
  private readonly decisions: Counter<'decision' | 'mode'>;

  constructor(
    private readonly authorizations: AuthorizationsRepository,
    private readonly grants: GrantsService,
    private readonly issuer: TokenIssuer,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly events: EventOutbox,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.decisions = metrics.counter(
      'oauth_consents_total',
      'Decisions of users on authorization requests: approved or denied.',
      'decision',
      'mode',
    );
    for (const decision of DECISIONS) this.decisions.inc({ decision, mode: 'live' }, 0);
  }

  /**
   * Creates a grant and returns an authorization code for it (RFC 6749 §4.1.2). The user's earlier grants to the app lose the scopes
   * that were requested now and not allowed, and the oldest end if there are too many.
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
      await this.grants.lockDecisions(tx, userId, clientId);
      const notAllowed = requestedScopes.filter((scope) => !grantedScopes.includes(scope));
      const isReduced = await this.grants.withdraw(tx, userId, clientId, notAllowed);
      const grant = await this.grants.create(
        tx,
        userId,
        clientId,
        grantedScopes,
        requestedScopes,
        identityHashOf(pending),
      );
      if (isReduced) await this.events.accessReduced(tx, [{ userId, clientId }]);
      return this.issuer.issueCode(tx, grant, pending);
    });
    this.decisions.inc({ decision: 'approved', mode: modeOf(clientId) });
    return code;
  }

  /** @throws PageError when the authorization request was already decided */
  async deny({ id, app }: PendingAuthorization, userId: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.markDecided(tx, id);
      await this.audit.record(tx, 'authorization.denied', app.clientId, { actor: userId });
    });
    this.decisions.inc({ decision: 'denied', mode: modeOf(app.clientId) });
  }

  private async markDecided(tx: Transaction, id: string): Promise<void> {
    if (!(await this.authorizations.markDecided(tx, id, this.clock.now())))
      throw new PageError('already_answered');
  }
}

/** The query parameter of the link from the short page to the consent page. */
export const CHANGE = 'change';

/** The page on which the signed-in user decides. */
@Injectable()
export class ConsentPage {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly renderer: PageRenderer,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends the consent page, or a shorter one if the app already has everything that it requests and presents itself as in the latest
   * unrevoked grant, unless the app or the user demands the consent page. Preselects the requested scopes, except those that the user
   * withheld in that grant.
   */
  async send(
    response: Response,
    pending: PendingAuthorization,
    user: SignInUser,
    { isChange = false } = {},
  ): Promise<void> {
    const { app, binding, scopes, prompt } = pending;
    const form = {
      ...binding,
      app,
      redirectHost: returnsTo(pending),
      shownHash: shownHashOf(pending),
      user: { id: user.id, ...userView(user) },
    };
    const latest = await this.grants.findLatestChoice(user.id, app.clientId);
    const isKnown = latest?.identityHash === identityHashOf(pending);
    if (prompt === null && !isChange && isKnown && (await this.hasEverything(pending, user))) {
      const { url } = authorizationPage(response.req, pending.id, 'consent');
      const consentPageUrl = withParameter(url, CHANGE, '1');
      this.renderer.send(response, 'repeated-consent', { ...form, scopes, consentPageUrl });
      return;
    }
    const withheld = latest?.requested.filter((name) => !latest.granted.includes(name)) ?? [];
    this.renderer.send(response, 'consent', {
      ...form,
      scopes: scopes.map((name) => ({ name, checked: !withheld.includes(name) })),
      hasEarlierGrant: latest !== null,
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PAGE.url}`,
    });
  }

  private async hasEverything(
    { app, scopes }: PendingAuthorization,
    user: SignInUser,
  ): Promise<boolean> {
    const [active] = await this.grants.findActiveApps(user.id, this.clock.now(), [app.clientId]);
    return scopes.every((scope) => active?.scopes.includes(scope));
  }
}

/**
 * How the app presents itself to the user, as a hash: its name, its publisher, and the scheme and host of the redirect URI. Without the
 * port, which native apps choose at random (RFC 8252 §7.3).
 */
function identityHashOf({ redirectUri, app }: PendingAuthorization): string {
  const { protocol, hostname } = new URL(redirectUri);
  return sha256(JSON.stringify([app.name, app.publisher, protocol, hostname]));
}

/** What the consent page shows of the app that the decision depends on, as a hash. */
export function shownHashOf(pending: PendingAuthorization): string {
  return sha256(`${identityHashOf(pending)} ${pending.app.isVerified}`);
}

/** The host to which the browser returns. A private-use scheme opens the app itself. */
function returnsTo({ redirectUri, app }: PendingAuthorization): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : app.name;
}
