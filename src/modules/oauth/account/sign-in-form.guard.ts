import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import type { FormBinding } from '../../../pages/views.js';
import { Parameters } from '../parameters.js';
import { BrowserCookies } from '../sign-in/browser-cookies.js';
import { AccountSignIns } from './account-sign-ins.js';

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
