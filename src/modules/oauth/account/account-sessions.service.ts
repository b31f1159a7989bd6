import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import type { SessionBinding } from '../../../pages/views.js';
import { isId } from '../../../platform/ids.js';
import type { SignInUser } from '../../users/users.repository.js';
import { APPS_PAGE, type ResultPage } from '../browser/page-state.js';
import { type BoundSignIn, BrowserBinding } from '../protocol/browser-binding.js';
import { Parameters } from '../protocol/parameters.js';
import type { SignInFlow, SignInForm, SignInStep } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';

const ACCOUNT_PATH = '/account';

/** The signed-in user of the account pages, with the fields that bind forms to the session. */
export interface AccountSession {
  user: SignInUser;
  /** SHA-256 of the session cookie. */
  sessionHash: string;
  binding: SessionBinding;
}

/** Sessions of the account pages, and sign-ins to them. `next` is the client id of the connected app whose page follows. */
@Injectable()
export class AccountSessions {
  constructor(
    private readonly signIn: SignInService,
    private readonly browsers: BrowserBinding,
  ) {}

  /** The session of the browser. Null if the user is signed out. */
  async current(request: Request): Promise<AccountSession | null> {
    const sessionHash = this.browsers.sessionHash(request);
    const user = await this.signIn.current(request);
    if (!user || sessionHash === undefined) return null;
    const binding = { token: this.browsers.tokenOfSession(sessionHash) };
    return { user, sessionHash, binding };
  }

  /**
   * The session that a submitted form belongs to.
   * @throws PageError when the user is signed out or the form belongs to another session
   */
  async findByForm(request: Request): Promise<AccountSession> {
    const session = await this.current(request);
    if (!session) throw new PageError('signed_out');
    this.browsers.checkToken(request, session.binding.token);
    return session;
  }

  /** Starts a sign-in, and sets a missing browser cookie. */
  startSignIn(request: Request, response: Response, next?: string): SignInForm {
    const { signInId, token } = this.browsers.startSignIn(request, response);
    return { binding: { transaction: signInId, token, next }, path: ACCOUNT_PATH };
  }

  /** The sign-in that a form belongs to. @throws PageError if it has expired or the form is not from this browser */
  signInOfForm(request: Request): SignInFlow {
    const signIn = this.browsers.signInOfForm(request);
    const flow = this.toFlow(signIn, request, nextOf(request.body));
    request.context.resultPage = flow.phonePage;
    this.browsers.checkExpiry(signIn.signInId);
    return flow;
  }

  /** The sign-in whose page is opened. @throws PageError if it has expired or the browser has no cookie */
  signInOfPage(request: Request, id: string): SignInFlow {
    const signIn = this.browsers.signInOfPage(request, id);
    const flow = this.toFlow(signIn, request, nextOf(request.query));
    this.browsers.checkExpiry(id);
    return flow;
  }

  private toFlow(
    { signInId, token }: BoundSignIn,
    request: Request,
    next: string | undefined,
  ): SignInFlow {
    const statePath = `${ACCOUNT_PATH}/sign-in/${signInId}`;
    const page = (step: SignInStep): ResultPage => ({
      statePath,
      url: `${statePath}/${step}${next === undefined ? '' : `?next=${next}`}`,
    });
    return {
      binding: { transaction: signInId, token, next },
      path: ACCOUNT_PATH,
      phonePage: page('phone'),
      codePage: page('code'),
      nextUrl: connectedAppsUrl(next),
      findSignedInUser: () => this.signIn.current(request),
    };
  }
}

/** The page of one connected app, or the list of all. */
export function connectedAppsUrl(clientId: string | undefined): string {
  return clientId === undefined ? APPS_PAGE.url : `${APPS_PAGE.url}/${clientId}`;
}

export function nextOf(source: Record<string, unknown>): string | undefined {
  const next = new Parameters(source).get('next');
  return isId('svc_app', next) ? next : undefined;
}
