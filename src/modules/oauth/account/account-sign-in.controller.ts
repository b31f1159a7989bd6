import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormBinding } from '../../../pages/views.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { SignInSteps, type SignInFlow } from '../sign-in/sign-in-flow.js';
import { ACCOUNT_PATH, AccountErrorFilter, addressOf } from './account-errors.js';
import { AccountSignInOf, SignInFormGuard } from './account-sign-in.js';

/** Signing in by phone and one-time password, to the account's own pages. */
@BrowserForms(SignInFormGuard, AccountErrorFilter)
@Controller('account')
export class AccountSignInController {
  constructor(
    private readonly steps: SignInSteps,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
  ) {}

  @Post('sign-in')
  @HttpCode(200)
  sendPassword(
    @AccountSignInOf() binding: FormBinding,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.steps.sendPassword(this.course(binding), request, response);
  }

  @Post('verify')
  @HttpCode(200)
  verify(
    @AccountSignInOf() binding: FormBinding,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.steps.verify(this.course(binding), request, response);
  }

  /** Goes back to the phone number. */
  @Post('change-number')
  @HttpCode(200)
  changeNumber(@AccountSignInOf() binding: FormBinding, @Res() response: Response): void {
    this.pages.phone(response, { binding, path: ACCOUNT_PATH });
  }

  private course(binding: FormBinding): SignInFlow {
    return {
      place: { binding, path: ACCOUNT_PATH },
      userOf: (request) => this.signIn.current(request),
      goOn: (response) => sendRedirect(response, addressOf(binding.next)),
    };
  }
}
