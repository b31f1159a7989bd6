import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { timeOf } from '../../../platform/ids.js';
import { formatScope, parseScope, type Scope } from '../../../platform/access/scopes.js';
import { digestsEqual } from '../../../platform/secrets.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { AUTHORIZE_PATH, requestedLanguage } from '../../../pages/language.js';
import type { FormBinding } from '../../../pages/views.js';
import type { SignInUser } from '../../users/users.repository.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import type { ResultPage } from '../browser/page-state.js';
import { rejectEmbedding } from '../protocol/fetch-metadata.js';
import { type BoundSignIn, BrowserBinding } from '../protocol/browser-binding.js';
import type { SignInFlow, SignInStep } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { isRegistered, requiresSignIn, type AuthorizationRequest } from './authorize-checks.js';
import type { Authorization } from './authorization.entity.js';
import { AuthorizationsRepository } from './authorizations.repository.js';

/** An authorization request between the first page and the decision. */
export interface PendingAuthorization extends Omit<Authorization, 'scope'> {
  app: RegisteredApp;
  /** The requested scopes that the app is still registered for. */
  scopes: readonly Scope[];
  /** The hidden fields of the next form. */
  binding: FormBinding;
}

/** Pending authorization requests, each bound to one browser and to its form token. */
@Injectable()
export class AuthorizationsService {
  constructor(
    private readonly repository: AuthorizationsRepository,
    private readonly apps: AppsService,
    private readonly signIn: SignInService,
    private readonly browsers: BrowserBinding,
    private readonly transactions: TransactionRunner,
  ) {}

  /** HEAD requests do not store the authorization request (RFC 9110 §9.3.2). */
  async start(
    { app, scopes, ...values }: AuthorizationRequest,
    userId: string | null,
    request: Request,
    response: Response,
  ): Promise<PendingAuthorization> {
    const { signInId: id, browserHash, token } = this.browsers.startSignIn(request, response);
    const authorization: Authorization = {
      ...values,
      id,
      clientId: app.clientId,
      scope: formatScope(scopes),
      browserHash,
      userId,
      decidedAt: null,
      createdAt: timeOf(id),
      expiresAt: this.browsers.expiryOf(id),
    };
    if (request.method !== 'HEAD')
      await this.transactions.run((tx) => this.repository.insert(tx, authorization));
    return toPending(authorization, app, token);
  }

  /**
   * Finds the authorization request that a form belongs to, and lets its result appear on the pages of the request.
   * @throws PageError as `findByPage`, or if the form is not from this browser
   */
  findByForm(request: Request): Promise<PendingAuthorization> {
    const signIn = this.browsers.signInOfForm(request);
    request.context.resultPage = authorizationPage(request, signIn.signInId, 'phone');
    return this.find(request, signIn);
  }

  /**
   * Finds the authorization request whose page is opened.
   * @throws PageError if the page is embedded in another; if the authorization request has expired, was decided or belongs to another
   * browser; if the app was disabled or is no longer registered for the redirect URI or for at least one of the requested scopes
   */
  findByPage(request: Request, id: string): Promise<PendingAuthorization> {
    rejectEmbedding(request);
    return this.find(request, this.browsers.signInOfPage(request, id));
  }

  private async find(
    request: Request,
    { signInId, browserHash, token }: BoundSignIn,
  ): Promise<PendingAuthorization> {
    const authorization = await this.repository.find(signInId);
    const isOwn = authorization && digestsEqual(authorization.browserHash, browserHash);
    const app = isOwn ? await this.apps.find(authorization.clientId) : null;
    if (isOwn && app?.enabled) nameOnErrorPages(request, app, authorization.redirectUri);
    this.browsers.checkExpiry(signInId);
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

  /** The sign-in that a form belongs to. @throws PageError as `findByForm` */
  async signInOfForm(request: Request): Promise<SignInFlow> {
    return this.toFlow(await this.findByForm(request), request);
  }

  /** The sign-in whose page is opened. @throws PageError as `findByPage` */
  async signInOfPage(request: Request, id: string): Promise<SignInFlow> {
    return this.toFlow(await this.findByPage(request, id), request);
  }

  private toFlow(pending: PendingAuthorization, request: Request): SignInFlow {
    const { id, app, binding } = pending;
    return {
      app,
      binding,
      phonePage: authorizationPage(request, id, 'phone'),
      codePage: authorizationPage(request, id, 'code'),
      nextUrl: authorizationPage(request, id, 'consent').url,
      findSignedInUser: (phone) => this.findSignedInUser(pending, request, phone),
      onSignIn: (tx, user) => this.repository.assignUser(tx, id, user.id),
    };
  }

  /**
   * Finds the user of the session, if the user signed in for this authorization request. Otherwise accepts a sign-in with the same
   * phone number in another tab, unless the app requires a new sign-in, and stores its user.
   */
  private async findSignedInUser(
    { id, app, userId, prompt }: PendingAuthorization,
    request: Request,
    phone: string | undefined,
  ): Promise<SignInUser | null> {
    const user = await this.signIn.current(request, app);
    if (user === null || user.id === userId) return user;
    if (userId !== null || requiresSignIn({ prompt }) || user.phone !== phone) return null;
    await this.assignUser(id, user.id);
    return user;
  }

  /** Stores the user who signed in for this authorization request; null removes the user. */
  assignUser(id: string, userId: string | null): Promise<void> {
    return this.transactions.run((tx) => this.repository.assignUser(tx, id, userId));
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
  const language = requestedLanguage(request);
  const query = language === undefined ? '' : `?ui_locales=${language}`;
  return { statePath, url: `${statePath}/${step}${query}` };
}

function toPending(
  { scope, ...authorization }: Authorization,
  app: RegisteredApp,
  token: string,
): PendingAuthorization {
  const scopes = parseScope(scope).filter((name) => app.scopes.includes(name));
  return { ...authorization, app, scopes, binding: { transaction: authorization.id, token } };
}
