import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import type { Request } from 'express';
import type { FormBinding } from '../../../pages/views.js';
import { Clock } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isId, newId } from '../../../platform/ids.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { expiredTransaction, ForeignToken, noCookies } from '../protocol/page-error.js';
import { Parameters } from '../protocol/parameters.js';
import { endOfSignIn } from '../sign-in/sign-in.service.js';
import { FormTokens, tokensEqual } from './account-session.js';

/** Sign-ins to the account's own pages. Each is its id, which holds its time, and a token that nobody else can make. */
@Injectable()
export class AccountSignIns {
  constructor(
    private readonly tokens: FormTokens,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param next client id of the app whose page was asked for */
  start(browserHash: string, next: string | undefined): FormBinding {
    const transaction = newId('txn', this.clock.now());
    return { transaction, token: this.tokens.ofSignIn(transaction, browserHash), next };
  }

  /**
   * The sign-in that a form belongs to.
   * @throws PageError when it is another browser's, or expired
   */
  resume(
    { transaction, token, next }: Partial<FormBinding>,
    browserHash: string | undefined,
  ): FormBinding {
    if (browserHash === undefined) throw noCookies();
    if (!isId('txn', transaction)) throw expiredTransaction();
    const own = this.tokens.ofSignIn(transaction, browserHash);
    if (token === undefined || !tokensEqual(own, token)) throw new ForeignToken();
    if (endOfSignIn(transaction, this.config) <= this.clock.now()) throw expiredTransaction();
    return { transaction, token, next: isId('svc_app', next) ? next : undefined };
  }
}

declare global {
  namespace Express {
    interface Request {
      accountSignIn?: FormBinding;
    }
  }
}

/** Finds the sign-in to the account that a form belongs to. */
@Injectable()
export class SignInFormGuard implements CanActivate {
  constructor(
    private readonly signIns: AccountSignIns,
    private readonly cookies: BrowserCookies,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const form = new Parameters(request.body);
    request.accountSignIn = this.signIns.resume(
      { transaction: form.get('transaction'), token: form.get('token'), next: form.get('next') },
      this.cookies.browserHash(request),
    );
    return true;
  }
}

/** The sign-in that the form belongs to. */
export const AccountSignInOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): FormBinding => {
    const { accountSignIn } = context.switchToHttp().getRequest<Request>();
    if (!accountSignIn) throw new Error('Only a form of ours belongs to a sign-in.');
    return accountSignIn;
  },
);
