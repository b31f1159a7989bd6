import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { isId, newId } from '../../../platform/ids.js';
import { formatScope, parseScope, type Scope } from '../../../platform/access/scopes.js';
import { digestsEqual, randomToken, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { FormBinding } from '../../../pages/views.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import {
  alreadyDecided,
  expiredSignIn,
  InvalidFormToken,
  noCookies,
  removedRedirectUri,
  removedScopes,
  unknownApp,
} from '../protocol/page-error.js';
import { Parameters } from '../protocol/parameters.js';
import { signInExpiresAt } from '../sign-in/sign-in.service.js';
import { isRegistered, type AuthorizationRequest } from './authorize-checks.js';
import type { Authorization } from './authorization.entity.js';
import { AuthorizationsRepository } from './authorizations.repository.js';

/** An authorization request between the first page and the decision. */
export interface PendingAuthorization {
  id: string;
  app: RegisteredApp;
  redirectUri: string;
  /** The requested scopes that the app is still registered for. */
  scopes: readonly Scope[];
  state: string;
  codeChallenge: string | null;
  userId: string | null;
  /** Whether the app requires a new sign-in despite a session. */
  requiresSignIn: boolean;
  /** The hidden fields of the next form. */
  binding: FormBinding;
}

/** Pending authorization requests, each bound to one browser and to its form token. */
@Injectable()
export class AuthorizationsService {
  constructor(
    private readonly repository: AuthorizationsRepository,
    private readonly apps: AppsService,
    private readonly cookies: BrowserCookies,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param options.isStored false for HEAD requests, which must not write to the database */
  async start(
    { app, scopes, ...request }: AuthorizationRequest,
    options: { browserHash: string; userId: string | null; isStored: boolean },
  ): Promise<PendingAuthorization> {
    const { browserHash, userId, isStored } = options;
    const token = randomToken();
    const now = this.clock.now();
    const id = newId('txn', now);
    const authorization: Authorization = {
      ...request,
      id,
      clientId: app.clientId,
      scope: formatScope(scopes),
      browserHash,
      tokenHash: sha256(token),
      userId,
      decidedAt: null,
      createdAt: now,
      // The id contains the time at which the request started.
      expiresAt: signInExpiresAt(id, this.config),
    };
    if (isStored) await this.transactions.run((tx) => this.repository.insert(tx, authorization));
    return toPending(authorization, app, token);
  }

  /**
   * Finds the authorization request that a form belongs to.
   * @throws PageError when the form is from another browser; when the authorization request has expired or was decided; when the
   * app was disabled, or is no longer registered for the redirect URI or for at least one of the requested scopes
   */
  async findByForm(request: Request): Promise<PendingAuthorization> {
    const form = new Parameters(request.body);
    const id = form.get('transaction');
    const token = form.get('token');
    const browserHash = this.cookies.browserHash(request);
    if (browserHash === undefined) throw noCookies();
    // The id contains the time, so the check does not reveal whether the authorization request exists.
    if (!isId('txn', id) || signInExpiresAt(id, this.config) <= this.clock.now())
      throw expiredSignIn();
    const authorization = await this.repository.find(id);
    // One error for all these cases, so that it does not reveal whether the authorization request exists.
    if (
      !authorization ||
      token === undefined ||
      !digestsEqual(authorization.browserHash, browserHash) ||
      !digestsEqual(authorization.tokenHash, sha256(token))
    )
      throw new InvalidFormToken();
    if (authorization.decidedAt) throw alreadyDecided();
    const app = await this.apps.find(authorization.clientId);
    if (!app?.enabled) throw unknownApp();
    if (!isRegistered(app, authorization.redirectUri)) throw removedRedirectUri();
    const pending = toPending(authorization, app, token);
    if (pending.scopes.length === 0) throw removedScopes();
    request.context.clientId = app.clientId;
    return pending;
  }

  /** Stores the user who signed in for this authorization request; null removes the user. */
  async assignUser(id: string, userId: string | null, tx?: Transaction): Promise<void> {
    if (tx) await this.repository.assignUser(tx, id, userId);
    else await this.transactions.run((newTx) => this.repository.assignUser(newTx, id, userId));
  }
}

function toPending(
  { id, redirectUri, scope, state, codeChallenge, userId, promptRequiringSignIn }: Authorization,
  app: RegisteredApp,
  token: string,
): PendingAuthorization {
  return {
    id,
    app,
    redirectUri,
    scopes: parseScope(scope).filter((name) => app.scopes.includes(name)),
    state,
    codeChallenge,
    userId,
    requiresSignIn: promptRequiringSignIn !== null,
    binding: { transaction: id, token },
  };
}
