import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sortedByName } from '../../../pages/formats.js';
import { acceptedCountry, AUTHORIZE_PATH, languageOf } from '../../../pages/language.js';
import { PageError } from '../../../pages/page-errors.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import { textsFor } from '../../../pages/translations/translations.js';
import type { AppView, CountryChoice, FormBinding, PhoneView } from '../../../pages/views.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import {
  callingCodes,
  countryOf,
  formatPhone,
  parseCountry,
  parsePhone,
  parsePhoneWithWarning,
} from '../../users/phone-number.js';
import type { Mode } from '../../users/test-members.js';
import type { SignInUser } from '../../users/users.repository.js';
import {
  type Feedback,
  messageOf,
  PageStates,
  typedPhone,
  type Message,
  type PageState,
  type ResultPage,
  withParameter,
} from '../browser/page-state.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { Parameters } from '../protocol/parameters.js';
import { FORM_FAILURES, RequestLimits } from '../rate-limit/request-limits.js';
import { OtpService, parseOneTimePassword, type OnSignIn } from './otp.service.js';
import type { BlockedPhone } from './phone-limits.js';
import { SignInService } from './sign-in.service.js';

/** The pages of a sign-in. */
export type SignInStep = 'phone' | 'code';

/** The forms of a sign-in to an app or to the account pages. */
export interface SignInForm {
  binding: FormBinding;
  app?: AppView & Mode;
  /** Prefix of the form actions. Default: `/oauth/authorize`. */
  path?: string;
}

/** A sign-in to an app or to the account pages. */
export interface SignInFlow extends SignInForm {
  phonePage: ResultPage;
  codePage: ResultPage;
  /** The URL after the sign-in. */
  nextUrl: string;
  /** Finds the user if the browser is already signed in, for example after Back. `phone` (E.164) is the submitted number. */
  findSignedInUser: (phone?: string) => Promise<SignInUser | null>;
  onSignIn?: OnSignIn;
}

/**
 * The two pages of a sign-in, phone and one-time password, and their forms (product requirements, section 3). Each form redirects to
 * the page that shows its result. A user who is already signed in is redirected to the next page.
 */
@Injectable()
export class SignInFlowService {
  /** By locale. Names and sorting take milliseconds. */
  private readonly countries = new Map<string, readonly CountryChoice[]>();

  constructor(
    private readonly otp: OtpService,
    private readonly signIn: SignInService,
    private readonly renderer: PageRenderer,
    private readonly states: PageStates,
    private readonly limits: RequestLimits,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends the page on which the user enters a phone number.
   * @param typed the phone as the user typed it, the country that the user selected, and the number to check
   */
  async sendPhonePage(
    response: Response,
    { binding, app, path = AUTHORIZE_PATH }: SignInForm,
    typed: Pick<PhoneView, 'phone' | 'country' | 'checked'> = {},
    feedback: Partial<Feedback> = {},
  ): Promise<void> {
    const countries = this.countriesIn(textsFor(response.req).locale);
    const listed = (code?: string): boolean => countries.some((country) => country.code === code);
    const known = [typed.country, this.config.otp.defaultCountry, acceptedCountry(response.req)];
    const only = countries.length === 1 ? countries[0]?.code : undefined;
    const country = known.find(listed) ?? only;
    // The account page of a visitor reads nothing from the database, so it says so only after the form.
    const needsMessages = app !== undefined && !app.test;
    const isPaused = feedback.status === 503 || (needsMessages && (await this.otp.isPaused()));
    const form = { ...binding, app, path, ...typed, countries, country, isPaused };
    this.renderer.send(response, 'phone', { ...form, ...feedback }, feedback);
  }

  private countriesIn(locale: string): readonly CountryChoice[] {
    let countries = this.countries.get(locale);
    if (!countries) {
      countries = sortedByName(callingCodes(this.config.otp.countries), locale);
      this.countries.set(locale, countries);
    }
    return countries;
  }

  /**
   * Shows a page of the sign-in. Without a phone, the page of the one-time password redirects to that of the phone.
   * @throws PageError the error of the last form
   */
  async showPage(
    step: SignInStep,
    flow: SignInFlow,
    request: Request,
    response: Response,
  ): Promise<void> {
    const state = this.states.take(request, response, flow.phonePage.statePath);
    if (await flow.findSignedInUser()) return this.next(flow, response);
    const { binding, app, path = AUTHORIZE_PATH, phonePage } = flow;
    const phone = parsePhone(state.phone ?? '');
    if (step === 'phone') {
      const texts = textsFor(request);
      const isLost = state.message === undefined && request.query[COOKIE_LOST] !== undefined;
      const feedback: Feedback = isLost
        ? { status: 400, error: texts.phone.cookieLost }
        : messageOf(state, texts);
      return this.sendPhonePage(response, flow, typedOn(state, phone), feedback);
    }
    if (phone === undefined) return sendRedirect(response, afterLostCookie(phonePage));
    const status = await this.otp.status(phone, this.limits.visitor(request), app);
    // A longer limit may have rejected the last request.
    const rejectedFor = state.message === undefined ? 0 : (state.seconds ?? 0);
    const { attemptsLeft, digits, hasFailed } = status;
    const showsAttempts = hasFailed && state.message !== 'wrong_code';
    const feedback = messageOf({ ...state, ...status }, textsFor(request));
    const view = {
      ...binding,
      app,
      path,
      phone,
      formattedPhone: formatPhone(phone),
      phonePageUrl: phonePage.url,
      digits,
      isOpen: attemptsLeft > 0,
      attemptsLeft: showsAttempts ? attemptsLeft : undefined,
      resendAfterSeconds: Math.max(status.resendAfterSeconds, rejectedFor),
      ...feedback,
    };
    this.renderer.send(response, 'code', view, feedback);
  }

  async sendOneTimePassword(flow: SignInFlow, request: Request, response: Response): Promise<void> {
    const parameters = new Parameters(request.body);
    const country = parseCountry(parameters.get('country')) ?? this.config.otp.defaultCountry;
    const parsed = parsePhoneWithWarning(parameters.get('phone') ?? '', country);
    const phone = parsed?.phone;
    if (await flow.findSignedInUser(phone)) return this.next(flow, response);
    const rejectPhone = (message: Message, seconds?: number): void =>
      this.states.redirect(response, flow.phonePage, {
        ...typedPhone(parameters),
        message,
        seconds,
      });
    if (phone === undefined) return rejectPhone('invalid_phone');
    const isResend = parameters.get('again') !== undefined;
    const isTestApp = flow.app?.test === true;
    const isChecked = isTestApp || isResend || parameters.get('checked') === phone;
    // A mistyped number is more likely than one that is newer than the library, or one for tests. Members and strangers get the same
    // question.
    if (parsed?.warning === 'unknown' && !isChecked && this.otp.serves(phone))
      return this.states.redirect(response, flow.phonePage, { phone, message: 'check_phone' });
    const showCodePage = (message?: Message, seconds?: number): void =>
      this.states.redirect(response, flow.codePage, { phone, message, seconds });
    const result = await this.otp.send(phone, this.limits.visitor(request), {
      language: languageOf(request),
      app: flow.app,
    });
    switch (result.outcome) {
      case 'sent':
        return showCodePage(isResend ? 'sent_again' : undefined);
      case 'unsupported_country':
      case 'paused':
        return rejectPhone(result.outcome);
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
    if (await flow.findSignedInUser(phone)) return this.next(flow, response);
    if (phone === undefined) throw new PageError('malformed_form');
    const reject = (message: Message): void =>
      this.states.redirect(response, flow.codePage, { phone, message });
    const visitor = this.limits.visitor(request);
    const { app } = flow;
    const { digits } = await this.otp.status(phone, visitor, app);
    const password = parseOneTimePassword(parameters.get('code') ?? '', digits);
    if (password === undefined) return reject('invalid_code');
    const guess = { phone, password, visitor, app };
    const verification = await this.signIn.signIn(request, response, guess, flow.onSignIn);
    const { outcome } = verification;
    switch (outcome) {
      case 'verified':
        return this.next(flow, response);
      case 'other_mode':
        return this.states.redirect(response, flow.phonePage, { message: otherMode(app) });
      case 'locked':
      case 'throttled':
        throw blockedPhone(verification);
      case 'wrong':
      case 'no_valid_password':
        await this.limits.record(request, FORM_FAILURES);
        return reject(outcome === 'wrong' ? 'wrong_code' : 'expired_code');
    }
  }

  /** Continues after the sign-in, and deletes what its pages remember. */
  private next({ codePage, nextUrl }: SignInFlow, response: Response): void {
    this.states.redirect(response, { ...codePage, url: nextUrl });
  }
}

/** The query parameter of a phone page to which another page redirects because it lacks the cookie of an earlier page. */
const COOKIE_LOST = 'cookie_lost';

/** The URL of the phone page, which then says why it appears again: a browser may never keep the cookie. */
export function afterLostCookie({ url }: ResultPage): string {
  return withParameter(url, COOKIE_LOST, '1');
}

/** The message for a user who cannot authorize the app. */
export function otherMode(app: Mode | undefined): 'test_app' | 'test_account' {
  return app?.test === true ? 'test_app' : 'test_account';
}

/** What the form of the phone page shows. @param phone the number of the state */
function typedOn(
  state: PageState,
  phone: string | undefined,
): Pick<PhoneView, 'phone' | 'country' | 'checked'> {
  // Only a number that was accepted is in E.164. It is shown with its own country.
  if (phone === undefined || phone !== state.phone)
    return { phone: state.phone, country: state.country };
  const checked = state.message === 'check_phone' ? phone : undefined;
  return { phone: formatPhone(phone), country: countryOf(phone), checked };
}

function blockedPhone(result: BlockedPhone): PageError {
  return result.outcome === 'locked'
    ? new PageError('locked_phone')
    : new PageError('too_many_attempts', result.retryAfterSeconds);
}
