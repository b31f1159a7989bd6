import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { parsePhone } from '../../users/phone-number.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { Sentence } from '../../../pages/translations/translations.js';
import type { SignInUser } from '../../users/users.repository.js';
import { OAuthPages, type SignInPlace } from '../browser/oauth-pages.js';
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
import { OtpService, type ClosedPhone, type WhenRight } from './otp.service.js';
import { SignInService } from './sign-in.service.js';

/** What one sign-in is part of, and where it leads. */
export interface SignInFlow {
  place: SignInPlace;
  /**
   * Who is signed in here already: a reload or a second click sends a step again that is done. `phone` (E.164) is what was
   * typed to sign in with.
   */
  userOf: (request: Request, phone?: string) => Promise<SignInUser | null>;
  /** What else is written in the unit that signs in. */
  also?: WhenRight;
  /** Shows what comes after. */
  goOn: (response: Response, user: SignInUser) => Promise<void> | void;
}

/** The two steps of signing in, by phone and by one-time password (source document, section 3). */
@Injectable()
export class SignInSteps {
  constructor(
    private readonly otp: OtpService,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
    private readonly attempts: FailedAttempts,
    private readonly keys: RequestKeys,
    private readonly config: AppConfig,
  ) {}

  /** Sends a one-time password to the phone of the form, for the first time or again. */
  async sendPassword(course: SignInFlow, request: Request, response: Response): Promise<void> {
    const { place } = course;
    const form = new Parameters(request.body);
    const typed = form.get('phone') ?? '';
    const phone = parsePhone(typed, this.config.otp.defaultCountry);
    if (await this.isDone(course, request, response, phone)) return;
    if (phone === undefined) {
      this.pages.phone(response, place, {
        status: 400,
        phone: typed,
        error: (words) => words.phone.notAPhone,
      });
      return;
    }
    const { transaction } = place.binding;
    const sending = await this.otp.send(
      transaction,
      phone,
      this.keys.visitor(request),
      languageOf(request),
    );
    switch (sending.outcome) {
      case 'sent':
        return this.pages.code(response, place, phone, {
          notice: form.get('again') === undefined ? undefined : ({ code }) => code.sentAgain,
        });
      case 'country':
        return this.pages.phone(response, place, {
          status: 400,
          phone: typed,
          error: (words) => words.phone.notOurCountry,
        });
      case 'locked':
      case 'guessed':
        throw tooManyGuesses(sending);
      case 'wait':
        return this.askToWait(response, place, { typed, phone }, sending.retryAfterSeconds);
    }
  }

  /** Takes the one-time password and, when it is right, goes on. */
  async verify(course: SignInFlow, request: Request, response: Response): Promise<void> {
    if (await this.isDone(course, request, response)) return;
    const { place } = course;
    const form = new Parameters(request.body);
    const phone = parsePhone(form.get('phone') ?? '');
    if (phone === undefined) throw malformedForm();
    const password = parseOneTimePassword(form.get('code') ?? '');
    if (password === undefined) {
      this.pages.code(response, place, phone, { status: 400, error: ({ code }) => code.notACode });
      return;
    }
    const transactionId = place.binding.transaction;
    const attempt = { transactionId, password, visitor: this.keys.visitor(request) };
    const verification = await this.signIn.signIn(request, response, attempt, course.also);
    switch (verification.outcome) {
      case 'right':
        return course.goOn(response, verification.user);
      case 'locked':
      case 'guessed':
        throw tooManyGuesses(verification);
      case 'wrong':
      case 'closed': {
        await this.attempts.record(request, 'decision');
        const { outcome } = verification;
        const error: Sentence = ({ code }) => code[outcome];
        this.pages.code(response, place, phone, { status: 400, error });
      }
    }
  }

  /** Too many messages were asked for. The last one stays good. */
  private async askToWait(
    response: Response,
    place: SignInPlace,
    { typed, phone }: { typed: string; phone: string },
    seconds: number,
  ): Promise<void> {
    const lasts = seconds < this.config.lifetimes.transaction;
    const error: Sentence = ({ code }) =>
      lasts ? code.wait(seconds) : `${code.wait(seconds)} ${code.expiredByThen}`;
    const remark = { status: 429, retryAfterSeconds: seconds };
    if (await this.otp.isOpen(place.binding.transaction, phone)) {
      const notice: Sentence = (words) => `${error(words)} ${words.code.lastWorks}`;
      this.pages.code(response, place, phone, { ...remark, notice });
    } else {
      this.pages.phone(response, place, { ...remark, phone: typed, error });
    }
  }

  /** Shows what comes next instead of an error. */
  private async isDone(
    { userOf, goOn }: SignInFlow,
    request: Request,
    response: Response,
    phone?: string,
  ): Promise<boolean> {
    const user = await userOf(request, phone);
    if (!user) return false;
    await goOn(response, user);
    return true;
  }
}

function tooManyGuesses({ outcome, retryAfterSeconds }: ClosedPhone): PageError {
  return outcome === 'locked' ? lockedPhone(retryAfterSeconds) : tooManyAttempts(retryAfterSeconds);
}
