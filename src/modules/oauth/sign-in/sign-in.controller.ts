import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignInUser } from '../../users/users.repository.js';
import { AuthorizationsService, type Pending } from '../authorize/authorizations.service.js';
import { PendingOf } from '../authorize/pending.guard.js';
import { BrowserForms } from '../browser-form.decorator.js';
import { OAuthPages } from '../oauth-pages.js';
import { SignInSteps, type SignInCourse } from './sign-in-steps.js';
import { SignInService } from './sign-in.service.js';

/** Signing in by phone and one-time password, inside an authorization request. */
@BrowserForms()
@Controller('oauth/authorize')
export class SignInController {
  constructor(
    private readonly steps: SignInSteps,
    private readonly authorizations: AuthorizationsService,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
  ) {}

  @Post('sign-in')
  @HttpCode(200)
  sendPassword(
    @PendingOf() pending: Pending,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.steps.sendPassword(this.course(pending), request, response);
  }

  @Post('verify')
  @HttpCode(200)
  verify(
    @PendingOf() pending: Pending,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.steps.verify(this.course(pending), request, response);
  }

  /** Goes back to the phone number. */
  @Post('change-number')
  @HttpCode(200)
  changeNumber(@PendingOf() pending: Pending, @Res() response: Response): void {
    this.pages.phone(response, pending);
  }

  /** "Not you?": ends the session and starts over with the same request. */
  @Post('sign-out')
  @HttpCode(200)
  async signOut(
    @PendingOf() pending: Pending,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.signIn.signOut(request, response);
    await this.authorizations.forgetUser(pending.id);
    this.pages.phone(response, pending);
  }

  private course(pending: Pending): SignInCourse {
    return {
      place: pending,
      userOf: (request) => this.whoAnswers(pending, request),
      also: (tx, userId) => this.authorizations.assignUser(tx, pending.id, userId),
      goOn: (response, user) => this.pages.consent(response, pending, user),
    };
  }

  /** Who signed in for this request, unless somebody else has signed in since. */
  private async whoAnswers({ userId }: Pending, request: Request): Promise<SignInUser | null> {
    const user = userId === null ? null : await this.signIn.current(request);
    return user?.id === userId ? user : null;
  }
}
