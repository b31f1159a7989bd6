import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { Clock } from '../../../platform/clock.js';
import { newId } from '../../../platform/ids.js';
import { formatScope, parseScope, type Scope } from '../../../platform/access/scopes.js';
import { digestsEqual } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { FormBinding } from '../../../pages/views.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import { PageStates, type PageState, type ResultPage } from '../browser/page-state.js';
import { type BoundSignIn, FormTokens, signInExpiresAt } from '../protocol/form-tokens.js';
import { AUTHORIZE_PATH, languageQuery } from '../browser/page-language.js';
import type { SignInStep } from '../sign-in/sign-in-flow.js';
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
  prompt: Authorization['prompt'];
  /** The hidden fields of the next form. */
  binding: FormBinding;
}

/** Pending authorization requests, each bound to one browser and to its form token. */
@Injectable()
export class AuthorizationsService {
  constructor(
    private readonly repository: AuthorizationsRepository,
    private readonly apps: AppsService,
    private readonly formTokens: FormTokens,
    private readonly states: PageStates,
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
    const now = this.clock.now();
    const id = newId('txn', now);
    const token = this.formTokens.ofSignIn(id, browserHash);
    const authorization: Authorization = {
      ...request,
      id,
      clientId: app.clientId,
      scope: formatScope(scopes),
      browserHash,
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
   * Finds the authorization request that a form belongs to, and lets its result appear on the pages of the request.
   * @throws PageError as `openPage`, or if the form is not from this browser
   */
  findByForm(request: Request): Promise<PendingAuthorization> {
    const signIn = this.formTokens.signInOfForm(request);
    request.context.resultPage = authorizationPage(request, signIn.signInId, 'phone');
    return this.find(request, signIn);
  }

  /**
   * Finds the authorization request whose page is opened, and what the page shows of the last form.
   * @throws PageError if the authorization request has expired, was decided or belongs to another browser, or if the app was disabled
   * or is no longer registered for the redirect URI or for at least one of the requested scopes; the error of the last form
   */
  async openPage(
    request: Request,
    response: Response,
    id: string,
  ): Promise<{ pending: PendingAuthorization; state: PageState }> {
    const signIn = this.formTokens.signInOfPage(request, id);
    const pending = await this.find(request, signIn);
    // After `find`, so that the page of an error names the app.
    const { statePath } = authorizationPage(request, id, 'phone');
    return { pending, state: this.states.take(request, response, statePath) };
  }

  private async find(
    request: Request,
    { signInId, browserHash, token }: BoundSignIn,
  ): Promise<PendingAuthorization> {
    const authorization = await this.repository.find(signInId);
    const isOwn = authorization && digestsEqual(authorization.browserHash, browserHash);
    const app = isOwn ? await this.apps.find(authorization.clientId) : null;
    if (isOwn && app?.enabled) nameOnErrorPages(request, app, authorization.redirectUri);
    this.formTokens.checkExpiry(signInId);
    // One error for both cases, so that it does not reveal whether the authorization request exists.
    if (!isOwn) throw new PageError('foreign_form');
    if (authorization.decidedAt) throw new PageError('already_answered');
    if (!app?.enabled) throw new PageError('unknown_app');
    if (!isRegistered(app, authorization.redirectUri)) throw new PageError('removed_redirect_uri');
    const pending = toPending(authorization, app, token);
    if (pending.scopes.length === 0) throw new PageError('removed_scopes');
    request.context.clientId = app.clientId;
    return pending;
  }

  /** Stores the user who signed in for this authorization request; null removes the user. */
  async assignUser(id: string, userId: string | null, tx?: Transaction): Promise<void> {
    if (tx) await this.repository.assignUser(tx, id, userId);
    else await this.transactions.run((newTx) => this.repository.assignUser(newTx, id, userId));
  }
}

/**
 * Names the app on error pages, with a link back to it: to its website or, if it has none, to the site of its redirect URI. The
 * redirect URI itself expects a response.
 */
export function nameOnErrorPages({ context }: Request, app: RegisteredApp, redirectUri = ''): void {
  const { name, homepageUrl } = app;
  context.requestingApp = { name };
  if (homepageUrl !== null) context.requestingApp.returnTo = { url: homepageUrl, label: name };
  else if (redirectUri.startsWith('https:') && isRegistered(app, redirectUri)) {
    const { href: url, host: label } = new URL('/', redirectUri);
    context.requestingApp.returnTo = { url, label };
  }
}

/** A page of an authorization request: the two steps of the sign-in, and the consent. */
export function authorizationPage(
  request: Request,
  id: string,
  step: SignInStep | 'consent',
): ResultPage {
  const statePath = `${AUTHORIZE_PATH}/${id}`;
  return { statePath, url: `${statePath}/${step}${languageQuery(request)}` };
}

function toPending(
  { id, redirectUri, scope, state, codeChallenge, userId, prompt }: Authorization,
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
    prompt,
    binding: { transaction: id, token },
  };
}
