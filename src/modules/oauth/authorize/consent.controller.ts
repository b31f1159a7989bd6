import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { canonicalScopes } from '../../../platform/access/scopes.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import {
  AuthorizationRefused,
  codeRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import type { Pending } from './authorizations.service.js';
import { PendingGuard, PendingOf } from './pending.guard.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import { AccessDenied } from '../protocol/oauth.errors.js';
import { ForeignForm, malformedForm } from '../protocol/page-error.js';
import { Parameters } from '../protocol/parameters.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { ConsentService } from './consent.service.js';

/** The decision, and the redirect that tells it to the app. */
@BrowserForms(PendingGuard)
@Controller('oauth/authorize')
export class ConsentController {
  constructor(
    private readonly signIn: SignInService,
    private readonly consent: ConsentService,
    private readonly config: AppConfig,
  ) {}

  /** Only scopes that were asked for, and still may be, count; with none of them ticked, approving is denying. */
  @Post('decision')
  async decide(
    @PendingOf() pending: Pending,
    @Body() form: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const parameters = new Parameters(form);
    const user = await this.signIn.current(request);
    const seenBy = parameters.get('user');
    if (!user || user.id !== pending.userId || user.id !== seenBy) throw new ForeignForm();
    const { redirectUri, state } = pending;
    const decision = parameters.get('decision');
    if (decision !== 'approve' && decision !== 'deny') throw malformedForm();
    const ticked = new Set([form['scope']].flat());
    const scopes = canonicalScopes(pending.scopes.filter((scope) => ticked.has(scope)));
    if (decision === 'deny' || scopes.length === 0) {
      await this.consent.deny(pending, user.id);
      throw new AuthorizationRefused(redirectUri, state, new AccessDenied());
    }
    const code = await this.consent.approve(pending, user.id, scopes);
    sendRedirect(response, codeRedirect(redirectUri, { code, state, iss: this.config.publicUrl }));
  }
}
