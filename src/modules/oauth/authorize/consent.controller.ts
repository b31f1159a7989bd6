import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { canonicalScopes } from '../../../platform/access/scopes.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { BrowserForm, BrowserPages } from '../browser/browser-form.decorator.js';
import { PageStates } from '../browser/page-state.js';
import {
  AuthorizationError,
  codeRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import { OAuthError } from '../protocol/oauth.errors.js';
import { Parameters } from '../protocol/parameters.js';
import { afterLostCookie } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { authorizationPage, AuthorizationsService } from './authorizations.service.js';
import { CHANGE, ConsentPage, ConsentService, shownHashOf } from './consent.service.js';

/** Asks the signed-in user for consent and redirects to the app. */
@BrowserPages()
@Controller('oauth/authorize')
export class ConsentController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly signIn: SignInService,
    private readonly page: ConsentPage,
    private readonly consent: ConsentService,
    private readonly states: PageStates,
    private readonly config: AppConfig,
  ) {}

  @Get(':transaction/consent')
  async show(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const pending = await this.authorizations.findByPage(request, id);
    // After `findByPage`, so that the page of an error names the app.
    const phonePage = authorizationPage(request, id, 'phone');
    this.states.take(request, response, phonePage.statePath);
    const user = await this.signIn.current(request, pending.app);
    // A user signed in for this request, but the browser has no session: it may not have kept the cookie.
    if (!user && pending.userId !== null) return sendRedirect(response, afterLostCookie(phonePage));
    if (!user || user.id !== pending.userId) return sendRedirect(response, phonePage.url);
    const isChange = request.query[CHANGE] !== undefined;
    await this.page.send(response, pending, user, { isChange });
  }

  /** Ignores scopes that the app did not request. Approving without any scope denies access. */
  @BrowserForm()
  @Post('decision')
  async decide(@Req() request: Request, @Res() response: Response): Promise<void> {
    const pending = await this.authorizations.findByForm(request);
    const form = new Parameters(request.body);
    const user = await this.signIn.current(request, pending.app);
    if (!user || user.id !== pending.userId || user.id !== form.get('user'))
      throw new PageError('foreign_form');
    const decision = form.get('decision') ?? '';
    if (!['approve', 'deny', 'refuse'].includes(decision)) throw new PageError('malformed_form');
    const { redirectUri, state } = pending;
    const selected = new Set(form.all('scope'));
    const scopes = canonicalScopes(pending.scopes.filter((scope) => selected.has(scope)));
    if (decision !== 'approve' || scopes.length === 0) {
      await this.consent.deny(pending, user.id);
      const denied = new OAuthError('access_denied', 'The user denied access.');
      throw new AuthorizationError(redirectUri, state, denied);
    }
    // The app changed after the page was shown, so the user allowed another one.
    if (form.get('identity') !== shownHashOf(pending))
      return sendRedirect(response, authorizationPage(request, pending.id, 'consent').url);
    const code = await this.consent.approve(pending, user.id, scopes);
    sendRedirect(response, codeRedirect(redirectUri, { code, state, iss: this.config.publicUrl }));
  }
}
