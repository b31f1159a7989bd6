import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignInUser } from '../../users/users.repository.js';
import { AuthorizationsService, type Pending } from './authorizations.service.js';
import { ConsentPage } from './consent-page.js';
import { PendingGuard, PendingOf } from './pending.guard.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { SignInSteps, type SignInFlow } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';

/** Signing in by phone and one-time password, inside an authorization request. */
@BrowserForms(PendingGuard)
@Controller('oauth/authorize')
export class SignInController {
  constructor(
    private readonly steps: SignInSteps,
    private readonly authorizations: AuthorizationsService,
    private readonly signIn: SignInService,
    private readonly consent: ConsentPage,
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
    await this.authorizations.changeUser(pending.id, null);
    this.pages.phone(response, pending);
  }

  private course(pending: Pending): SignInFlow {
    return {
      place: pending,
      userOf: (request, phone) => this.whoAnswers(pending, request, phone),
      also: (tx, user) => this.authorizations.assignUser(tx, pending.id, user.id),
      goOn: (response, user) => this.consent.show(response, pending, user),
    };
  }

  /**
   * Who signed in for this request, unless somebody else has signed in since. Also who signed in in another tab and types
   * their phone here, unless the app wants them to sign in again; another phone is somebody else's.
   */
  private async whoAnswers(
    { id, userId, asksToSignIn }: Pending,
    request: Request,
    phone: string | undefined,
  ): Promise<SignInUser | null> {
    const user = await this.signIn.current(request);
    if (user === null || user.id === userId) return user;
    if (userId !== null || asksToSignIn || user.phone !== phone) return null;
    await this.authorizations.changeUser(id, user.id);
    return user;
  }
}
