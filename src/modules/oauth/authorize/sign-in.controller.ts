import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignInUser } from '../../users/users.repository.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { SignInFlowService, type SignInFlow } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { AuthorizationsService, type PendingAuthorization } from './authorizations.service.js';
import { ConsentService } from './consent.service.js';

/** Sign-in by phone and one-time password, as part of an authorization request. */
@BrowserForms()
@Controller('oauth/authorize')
export class SignInController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly flows: SignInFlowService,
    private readonly signIn: SignInService,
    private readonly consent: ConsentService,
    private readonly pages: OAuthPages,
  ) {}

  @Post('sign-in')
  @HttpCode(200)
  async sendOneTimePassword(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    await this.flows.sendOneTimePassword(this.flow(pending), request, response);
  }

  @Post('verify')
  @HttpCode(200)
  async verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    await this.flows.verify(this.flow(pending), request, response);
  }

  @Post('change-number')
  @HttpCode(200)
  async changeNumber(@Req() request: Request, @Res() response: Response): Promise<void> {
    this.pages.sendPhonePage(response, await this.authorizations.findByForm(request));
  }

  /** Handles "Not you?": ends the session and shows the sign-in page of the same authorization request. */
  @Post('sign-out')
  @HttpCode(200)
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    await this.signIn.signOut(request, response);
    await this.authorizations.assignUser(pending.id, null);
    this.pages.sendPhonePage(response, pending);
  }

  private flow(pending: PendingAuthorization): SignInFlow {
    return {
      form: pending,
      findSignedInUser: (request, phone) => this.findSignedInUser(pending, request, phone),
      onSignIn: (tx, user) => this.authorizations.assignUser(pending.id, user.id, tx),
      next: (response, user) => this.consent.showPage(response, pending, user),
    };
  }

  /**
   * Finds the user of the session, if the user signed in for this authorization request. Otherwise accepts a sign-in with the same
   * phone number in another tab, unless the app requires a new sign-in, and stores its user.
   */
  private async findSignedInUser(
    { id, userId, requiresSignIn }: PendingAuthorization,
    request: Request,
    phone: string | undefined,
  ): Promise<SignInUser | null> {
    const user = await this.signIn.current(request);
    if (user === null || user.id === userId) return user;
    if (userId !== null || requiresSignIn || user.phone !== phone) return null;
    await this.authorizations.assignUser(id, user.id);
    return user;
  }
}
