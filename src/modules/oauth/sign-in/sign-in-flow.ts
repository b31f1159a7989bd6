import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { parsePhone } from '../../users/phone-number.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { TextSelector } from '../../../pages/translations/translations.js';
import type { SignInUser } from '../../users/users.repository.js';
import { OAuthPages, type SignInForm } from '../browser/oauth-pages.js';
import {
  lockedPhone,
  malformedForm,
  tooManyAttempts,
  type PageError,
} from '../protocol/page-error.js';
import { languageOf } from '../protocol/page-language.js';
import { Parameters } from '../protocol/parameters.js';
import { FailedAttempts } from '../rate-limit/failed-attempts.js';
import { RequestKeys } from '../rate-limit/request-keys.js';
import { parseOneTimePassword } from './one-time-password.js';
import { OtpService, type BlockedPhone, type OnSignIn } from './otp.service.js';
import { SignInService } from './sign-in.service.js';

/** A sign-in to an app or to the account pages. */
export interface SignInFlow {
  form: SignInForm;
  /** Finds the user if the browser is already signed in, for example after a reload. `phone` (E.164) is the submitted number. */
  findSignedInUser: (request: Request, phone?: string) => Promise<SignInUser | null>;
  onSignIn?: OnSignIn;
  /** Sends the next page, or redirects to it, after the sign-in. */
  next: (response: Response, user: SignInUser) => Promise<void> | void;
}

/** The two steps of a sign-in: phone and one-time password (product requirements, section 3). */
@Injectable()
export class SignInFlowService {
  constructor(
    private readonly otp: OtpService,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
    private readonly attempts: FailedAttempts,
    private readonly keys: RequestKeys,
    private readonly config: AppConfig,
  ) {}

  async sendOneTimePassword(flow: SignInFlow, request: Request, response: Response): Promise<void> {
    const parameters = new Parameters(request.body);
    const typed = parameters.get('phone') ?? '';
    const phone = parsePhone(typed, this.config.otp.defaultCountry);
    if (await this.continueIfSignedIn(flow, request, response, phone)) return;
    const { form } = flow;
    const reject = (error: TextSelector): void =>
      this.pages.sendPhonePage(response, form, { status: 400, phone: typed, error });
    if (phone === undefined) return reject(({ phone: texts }) => texts.invalid);
    const { transaction: signInId } = form.binding;
    const visitor = this.keys.visitor(request);
    const result = await this.otp.send(signInId, phone, visitor, languageOf(request));
    switch (result.outcome) {
      case 'sent': {
        const isResend = parameters.get('again') !== undefined;
        const notice: TextSelector | undefined = isResend
          ? ({ code }) => code.sentAgain
          : undefined;
        return this.pages.sendOneTimePasswordPage(response, form, phone, { notice });
      }
      case 'unsupported_country':
        return reject(({ phone: texts }) => texts.unsupportedCountry);
      case 'locked':
      case 'throttled':
        throw blockedPhone(result);
      case 'message_limit':
        return this.sendWaitPage(response, form, { typed, phone }, result.retryAfterSeconds);
    }
  }

  async verify(flow: SignInFlow, request: Request, response: Response): Promise<void> {
    if (await this.continueIfSignedIn(flow, request, response)) return;
    const { form } = flow;
    const parameters = new Parameters(request.body);
    const phone = parsePhone(parameters.get('phone') ?? '');
    if (phone === undefined) throw malformedForm();
    const reject = (error: TextSelector): void =>
      this.pages.sendOneTimePasswordPage(response, form, phone, { status: 400, error });
    const password = parseOneTimePassword(parameters.get('code') ?? '');
    if (password === undefined) return reject(({ code }) => code.invalid);
    const guess = {
      signInId: form.binding.transaction,
      password,
      visitor: this.keys.visitor(request),
    };
    const verification = await this.signIn.signIn(request, response, guess, flow.onSignIn);
    const { outcome } = verification;
    switch (outcome) {
      case 'verified':
        return flow.next(response, verification.user);
      case 'locked':
      case 'throttled':
        throw blockedPhone(verification);
      case 'wrong':
      case 'no_valid_password':
        // `decision` is the group of all page forms.
        await this.attempts.record(request, 'decision');
        return reject(({ code }) => (outcome === 'wrong' ? code.wrong : code.expired));
    }
  }

  /** Shows when the user can request the next message. If the last one-time password is still valid, the user can enter it. */
  private async sendWaitPage(
    response: Response,
    form: SignInForm,
    { typed, phone }: { typed: string; phone: string },
    seconds: number,
  ): Promise<void> {
    const pageExpiresFirst = seconds >= this.config.lifetimes.signIn;
    const error: TextSelector = ({ code }) =>
      pageExpiresFirst ? `${code.wait(seconds)} ${code.pageExpiresFirst}` : code.wait(seconds);
    const feedback = { status: 429, retryAfterSeconds: seconds };
    if (await this.otp.hasValidOneTimePassword(form.binding.transaction, phone)) {
      const notice: TextSelector = (texts) => `${error(texts)} ${texts.code.lastCodeWorks}`;
      this.pages.sendOneTimePasswordPage(response, form, phone, { ...feedback, notice });
    } else {
      this.pages.sendPhonePage(response, form, { ...feedback, phone: typed, error });
    }
  }

  /** If the user is already signed in, sends the next page and returns true. */
  private async continueIfSignedIn(
    { findSignedInUser, next }: SignInFlow,
    request: Request,
    response: Response,
    phone?: string,
  ): Promise<boolean> {
    const user = await findSignedInUser(request, phone);
    if (user) await next(response, user);
    return user !== null;
  }
}

function blockedPhone({ outcome, retryAfterSeconds }: BlockedPhone): PageError {
  return outcome === 'locked' ? lockedPhone(retryAfterSeconds) : tooManyAttempts(retryAfterSeconds);
}
