import { Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SignInUser } from '../../users/users.repository.js';
import { BrowserForm, BrowserPages } from '../browser/browser-form.decorator.js';
import { PageStates } from '../browser/page-state.js';
import { NavigationGuard } from '../protocol/fetch-metadata.guard.js';
import { SignInFlowService, type SignInFlow, type SignInStep } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { requiresSignIn } from './authorize-checks.js';
import {
  authorizationPage,
  AuthorizationsService,
  type PendingAuthorization,
} from './authorizations.service.js';

/** Sign-in by phone and one-time password, as part of an authorization request. */
@BrowserPages()
@Controller('oauth/authorize')
export class SignInController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly flows: SignInFlowService,
    private readonly signIn: SignInService,
    private readonly states: PageStates,
  ) {}

  @Get(':transaction/phone')
  @UseGuards(NavigationGuard)
  async showPhonePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.showPage('phone', id, request, response);
  }

  @BrowserForm()
  @Post('sign-in')
  async sendOneTimePassword(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    await this.flows.sendOneTimePassword(this.flow(pending, request), request, response);
  }

  @Get(':transaction/code')
  @UseGuards(NavigationGuard)
  async showCodePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.showPage('code', id, request, response);
  }

  @BrowserForm()
  @Post('verify')
  async verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    await this.flows.verify(this.flow(pending, request), request, response);
  }

  /** Handles "Switch account": ends the session and shows the sign-in page of the same authorization request. */
  @BrowserForm()
  @Post('sign-out')
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { id } = await this.authorizations.findByForm(request);
    await this.signIn.signOut(request, response);
    await this.authorizations.assignUser(id, null);
    this.states.redirect(response, authorizationPage(request, id, 'phone'));
  }

  private async showPage(
    step: SignInStep,
    id: string,
    request: Request,
    response: Response,
  ): Promise<void> {
    const { pending, state } = await this.authorizations.openPage(request, response, id);
    await this.flows.showPage(step, this.flow(pending, request), state, request, response);
  }

  private flow(pending: PendingAuthorization, request: Request): SignInFlow {
    const { id } = pending;
    return {
      form: pending,
      phonePage: authorizationPage(request, id, 'phone'),
      codePage: authorizationPage(request, id, 'code'),
      nextUrl: authorizationPage(request, id, 'consent').url,
      findSignedInUser: (currentRequest, phone) =>
        this.findSignedInUser(pending, currentRequest, phone),
      onSignIn: (tx, user) => this.authorizations.assignUser(id, user.id, tx),
    };
  }

  /**
   * Finds the user of the session, if the user signed in for this authorization request. Otherwise accepts a sign-in with the same
   * phone number in another tab, unless the app requires a new sign-in, and stores its user.
   */
  private async findSignedInUser(
    { id, userId, prompt }: PendingAuthorization,
    request: Request,
    phone: string | undefined,
  ): Promise<SignInUser | null> {
    const user = await this.signIn.current(request);
    if (user === null || user.id === userId) return user;
    if (userId !== null || requiresSignIn({ prompt }) || user.phone !== phone) return null;
    await this.authorizations.assignUser(id, user.id);
    return user;
  }
}
