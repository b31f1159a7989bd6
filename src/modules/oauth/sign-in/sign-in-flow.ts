import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { countryOf, formatPhone, parseCountry, parsePhone } from '../../users/phone-number.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { SignInUser } from '../../users/users.repository.js';
import { OAuthPages, type SignInForm } from '../browser/oauth-pages.js';
import {
  messageOf,
  PageStates,
  typedPhone,
  type Message,
  type PageState,
  type ResultPage,
} from '../browser/page-state.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { languageOf } from '../browser/page-language.js';
import { Parameters } from '../protocol/parameters.js';
import { FailedAttempts, FORM_FAILURES } from '../rate-limit/failed-attempts.js';
import { RequestKeys } from '../rate-limit/request-keys.js';
import { parseOneTimePassword } from './one-time-password.js';
import { OtpService, type OnSignIn } from './otp.service.js';
import type { BlockedPhone } from './phone-limits.js';
import { MAX_ATTEMPTS } from './sign-in.repository.js';
import { SignInService } from './sign-in.service.js';

/** The pages of a sign-in. */
export type SignInStep = 'phone' | 'code';

/** A sign-in to an app or to the account pages. */
export interface SignInFlow {
  form: SignInForm;
  phonePage: ResultPage;
  codePage: ResultPage;
  /** The URL after the sign-in. */
  nextUrl: string;
  /** Finds the user if the browser is already signed in, for example after Back. `phone` (E.164) is the submitted number. */
  findSignedInUser: (request: Request, phone?: string) => Promise<SignInUser | null>;
  onSignIn?: OnSignIn;
}

/**
 * The two pages of a sign-in, phone and one-time password, and their forms (product requirements, section 3). Each form redirects to
 * the page that shows its result. A user who is already signed in is redirected to the next page.
 */
@Injectable()
export class SignInFlowService {
  constructor(
    private readonly otp: OtpService,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
    private readonly states: PageStates,
    private readonly attempts: FailedAttempts,
    private readonly keys: RequestKeys,
    private readonly config: AppConfig,
  ) {}

  /** Shows a page of the sign-in. Without a phone, the page of the one-time password redirects to that of the phone. */
  async showPage(
    step: SignInStep,
    flow: SignInFlow,
    state: PageState,
    request: Request,
    response: Response,
  ): Promise<void> {
    if (await flow.findSignedInUser(request)) return this.next(flow, response);
    const { form, phonePage } = flow;
    const phone = parsePhone(state.phone ?? '');
    if (step === 'phone') {
      const typed = { phone: state.phone, country: state.country };
      // Only a number that was accepted is in E.164. It is shown with its own country.
      const isAccepted = phone !== undefined && phone === state.phone;
      const input = isAccepted ? { phone: formatPhone(phone), country: countryOf(phone) } : typed;
      return this.pages.sendPhonePage(response, form, { ...input, ...messageOf(state) });
    }
    if (phone === undefined) return sendRedirect(response, phonePage.url);
    const status = await this.otp.status(phone, this.keys.visitor(request));
    // A longer limit may have rejected the last request.
    const rejectedFor = state.message === undefined ? 0 : (state.seconds ?? 0);
    const { attemptsLeft } = status;
    const showsAttempts = attemptsLeft < MAX_ATTEMPTS && state.message !== 'wrong_code';
    const view = {
      phone,
      phonePageUrl: phonePage.url,
      isOpen: attemptsLeft > 0,
      attemptsLeft: showsAttempts ? attemptsLeft : undefined,
      resendAfterSeconds: Math.max(status.resendAfterSeconds, rejectedFor),
    };
    const feedback = messageOf({ ...state, ...status });
    this.pages.sendOneTimePasswordPage(response, form, view, feedback);
  }

  async sendOneTimePassword(flow: SignInFlow, request: Request, response: Response): Promise<void> {
    const parameters = new Parameters(request.body);
    const country = parseCountry(parameters.get('country')) ?? this.config.otp.defaultCountry;
    const phone = parsePhone(parameters.get('phone') ?? '', country);
    if (await flow.findSignedInUser(request, phone)) return this.next(flow, response);
    const rejectPhone = (message: Message, seconds?: number): void =>
      this.states.redirect(response, flow.phonePage, {
        ...typedPhone(parameters),
        message,
        seconds,
      });
    if (phone === undefined) return rejectPhone('invalid_phone');
    const showCodePage = (message?: Message, seconds?: number): void =>
      this.states.redirect(response, flow.codePage, { phone, message, seconds });
    const isResend = parameters.get('again') !== undefined;
    const result = await this.otp.send(phone, this.keys.visitor(request), languageOf(request));
    switch (result.outcome) {
      case 'sent':
        return showCodePage(isResend ? 'sent_again' : undefined);
      case 'unsupported_country':
        return rejectPhone('unsupported_country');
      case 'locked':
      case 'throttled':
        throw blockedPhone(result);
      case 'message_limit': {
        const { retryAfterSeconds: seconds, isEarlierValid } = result;
        if (isEarlierValid)
          return showCodePage(isResend ? 'last_code_works' : 'earlier_code_works', seconds);
        if (seconds >= this.config.lifetimes.signIn) return rejectPhone('wait_too_long', seconds);
        return showCodePage(isResend ? 'too_early' : 'no_earlier_code', seconds);
      }
    }
  }

  async verify(flow: SignInFlow, request: Request, response: Response): Promise<void> {
    const parameters = new Parameters(request.body);
    const phone = parsePhone(parameters.get('phone') ?? '');
    if (await flow.findSignedInUser(request, phone)) return this.next(flow, response);
    if (phone === undefined) throw new PageError('malformed_form');
    const reject = (message: Message): void =>
      this.states.redirect(response, flow.codePage, { phone, message });
    const password = parseOneTimePassword(parameters.get('code') ?? '');
    if (password === undefined) return reject('invalid_code');
    const guess = { phone, password, visitor: this.keys.visitor(request) };
    const verification = await this.signIn.signIn(request, response, guess, flow.onSignIn);
    const { outcome } = verification;
    switch (outcome) {
      case 'verified':
        return this.next(flow, response);
      case 'locked':
      case 'throttled':
        throw blockedPhone(verification);
      case 'wrong':
      case 'no_valid_password':
        await this.attempts.record(request, FORM_FAILURES);
        return reject(outcome === 'wrong' ? 'wrong_code' : 'expired_code');
    }
  }

  /** Continues after the sign-in, and deletes what its pages remember. */
  private next({ codePage, nextUrl }: SignInFlow, response: Response): void {
    this.states.redirect(response, { ...codePage, url: nextUrl });
  }
}

function blockedPhone(result: BlockedPhone): PageError {
  return result.outcome === 'locked'
    ? new PageError('locked_phone')
    : new PageError('too_many_attempts', result.retryAfterSeconds);
}
