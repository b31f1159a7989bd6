import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { isId, newId } from '../../../platform/ids.js';
import { formatScope, parseScope, type Scope } from '../../../platform/access/scopes.js';
import { digestsEqual, randomToken, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { FormBinding } from '../../../pages/views.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import { redirectUriMatches } from '../protocol/redirect-uri.js';
import {
  alreadyAnswered,
  expiredTransaction,
  ForeignToken,
  noCookies,
  removedRedirectUri,
  removedScopes,
  unknownApp,
} from '../protocol/page-error.js';
import { endOfSignIn } from '../sign-in/sign-in.service.js';
import type { AuthorizationRequest } from './authorize-checks.js';
import type { Authorization } from './authorization.entity.js';
import { AuthorizationsRepository } from './authorizations.repository.js';

/** A pending authorization request that its own browser came back to. */
export interface Pending {
  id: string;
  app: RegisteredApp;
  redirectUri: string;
  /** Of what the app asked for, what it may still ask for. */
  scopes: readonly Scope[];
  state: string;
  codeChallenge: string | null;
  userId: string | null;
  /** Whether the app wants its user to sign in even with a session. */
  asksToSignIn: boolean;
  /** What the next page's form must carry. */
  binding: FormBinding;
}

/** Keeps authorization requests from the first page to the decision, each bound to one browser and one form token. */
@Injectable()
export class AuthorizationsService {
  constructor(
    private readonly repository: AuthorizationsRepository,
    private readonly apps: AppsService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param isKept false to show what would be started, without starting it */
  async start(
    request: AuthorizationRequest,
    browserHash: string,
    userId: string | null,
    isKept: boolean,
  ): Promise<Pending> {
    const token = randomToken();
    const authorization = this.newAuthorization(request, browserHash, userId, sha256(token));
    if (isKept) await this.transactions.run((tx) => this.repository.insert(tx, authorization));
    return pending(authorization, request.app, token);
  }

  /**
   * The request that a form belongs to.
   * @throws PageError when the form is another browser's or nobody's, the request is answered or expired, or the app was switched off
   * or lost the redirect or every scope since
   */
  async resume(
    { transaction, token }: Partial<FormBinding>,
    browserHash: string | undefined,
  ): Promise<Pending> {
    if (browserHash === undefined) throw noCookies();
    if (!isId('txn', transaction) || endOfSignIn(transaction, this.config) <= this.clock.now())
      throw expiredTransaction();
    const authorization = await this.repository.find(transaction);
    // One that never was is told nothing else than another browser's.
    if (
      !authorization ||
      token === undefined ||
      !digestsEqual(authorization.browserHash, browserHash) ||
      !digestsEqual(authorization.tokenHash, sha256(token))
    ) {
      throw new ForeignToken();
    }
    if (authorization.answeredAt) throw alreadyAnswered();
    const app = await this.apps.find(authorization.clientId);
    if (!app?.enabled) throw unknownApp();
    if (!stillRegistered(app, authorization.redirectUri)) throw removedRedirectUri();
    const found = pending(authorization, app, token);
    if (found.scopes.length === 0) throw removedScopes();
    return found;
  }

  /** Notes who signed in for this request. */
  assignUser(tx: Transaction, id: string, userId: string): Promise<void> {
    return this.repository.assignUser(tx, id, userId);
  }

  /** The same in a unit of its own; with null it forgets who signed in. */
  async changeUser(id: string, userId: string | null): Promise<void> {
    await this.transactions.run((tx) => this.repository.assignUser(tx, id, userId));
  }

  private newAuthorization(
    { app, redirectUri, scopes, state, codeChallenge, signInPrompt }: AuthorizationRequest,
    browserHash: string,
    userId: string | null,
    tokenHash: string,
  ): Authorization {
    const now = this.clock.now();
    const id = newId('txn', now);
    return {
      id,
      clientId: app.clientId,
      redirectUri,
      scope: formatScope(scopes),
      state,
      codeChallenge,
      signInPrompt,
      browserHash,
      tokenHash,
      userId,
      answeredAt: null,
      createdAt: now,
      expiresAt: endOfSignIn(id, this.config),
    };
  }
}

function stillRegistered(app: RegisteredApp, redirectUri: string): boolean {
  return app.redirectUris.some((uri) =>
    redirectUriMatches(uri, redirectUri, app.kind === 'public'),
  );
}

function pending(authorization: Authorization, app: RegisteredApp, token: string): Pending {
  const { id, redirectUri, scope, state, codeChallenge, userId, signInPrompt } = authorization;
  return {
    id,
    app,
    redirectUri,
    scopes: parseScope(scope).filter((name) => app.scopes.includes(name)),
    state,
    codeChallenge,
    userId,
    asksToSignIn: signInPrompt !== null,
    binding: { transaction: id, token },
  };
}
