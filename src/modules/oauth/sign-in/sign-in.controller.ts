import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { inWords } from '../../../common/duration.js';
import { parsePhone } from '../../../common/phone-number.js';
import { AppConfig } from '../../../config/app-config.js';
import { AuthorizationsService, type Pending } from '../authorize/authorizations.service.js';
import { PendingOf } from '../authorize/pending.guard.js';
import { BrowserForms } from '../browser-form.decorator.js';
import { OAuthPages } from '../oauth-pages.js';
import { TooManyAttempts } from '../oauth.errors.js';
import { malformedForm } from '../page-error.js';
import { Parameters } from '../parameters.js';
import { FailureCounter } from '../throttle/failure-counter.js';
import { addressOf } from '../throttle/trackers.js';
import { UsersService } from '../../users/users.service.js';
import { parseOneTimePassword } from './one-time-password.js';
import { OtpService } from './otp.service.js';
import { SignInService } from './sign-in.service.js';

type Form = Record<string, unknown>;

const NOT_A_PHONE = 'Enter your phone number with its country code, such as +1 415 555 0100.';
const NOT_A_CODE = 'Enter the 6 digits of the code.';
const WRONG_CODE = 'That is not the code we sent. Look at the newest message and try again.';
const CLOSED_CODE = 'This code does not work any more. Send a new one.';

/** Signing in by phone and one-time password, inside an authorization request. */
@BrowserForms()
@Controller('oauth/authorize')
export class SignInController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly otp: OtpService,
    private readonly signIn: SignInService,
    private readonly users: UsersService,
    private readonly pages: OAuthPages,
    private readonly failures: FailureCounter,
    private readonly config: AppConfig,
  ) {}

  /** Sends a one-time password to the phone of the form, for the first time or again. */
  @Post('sign-in')
  @HttpCode(200)
  async sendPassword(
    @PendingOf() pending: Pending,
    @Body() form: Form,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (await this.showConsentIfSignedIn(pending, request, response)) return;
    const parameters = new Parameters(form);
    const typed = parameters.get('phone') ?? '';
    const phone = parsePhone(typed, this.config.otp.defaultCountry);
    if (phone === undefined) {
      this.pages.phone(response, pending, { status: 400, phone: typed, error: NOT_A_PHONE });
      return;
    }
    const wait = await this.otp.send(pending.id, phone, addressOf(request));
    if (wait === undefined) {
      this.pages.code(response, pending, phone);
      return;
    }
    const error = `Too many messages were asked for. Try again in ${inWords(wait)}.`;
    const remark = { status: 429, retryAfterSeconds: wait };
    if (await this.otp.isOpen(pending.id, phone)) {
      const notice = `${error} The last code we sent still works.`;
      this.pages.code(response, pending, phone, { ...remark, notice });
    } else {
      this.pages.phone(response, pending, { ...remark, phone: typed, error });
    }
  }

  /** Takes the one-time password and, when it is right, asks for consent. */
  @Post('verify')
  @HttpCode(200)
  async verify(
    @PendingOf() pending: Pending,
    @Body() form: Form,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (await this.showConsentIfSignedIn(pending, request, response)) return;
    const parameters = new Parameters(form);
    const phone = parsePhone(parameters.get('phone') ?? '');
    if (phone === undefined) throw malformedForm();
    const password = parseOneTimePassword(parameters.get('code') ?? '');
    if (password === undefined) {
      this.pages.code(response, pending, phone, { status: 400, error: NOT_A_CODE });
      return;
    }
    const verification = await this.otp.verify(pending.id, password);
    const { outcome } = verification;
    if (outcome === 'locked') throw new TooManyAttempts(verification.retryAfterSeconds);
    const user = outcome === 'right' ? await this.users.active(verification.userId) : null;
    if (
      outcome !== 'right' ||
      !user ||
      !(await this.signIn.signIn(request, response, verification))
    ) {
      await this.failures.count(request, 'decision');
      const error = outcome === 'wrong' ? WRONG_CODE : CLOSED_CODE;
      this.pages.code(response, pending, phone, { status: 400, error });
      return;
    }
    await this.pages.consent(response, pending, user);
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

  /** A reload or a second click sends a step again that is done: it shows what comes next instead of an error. */
  private async showConsentIfSignedIn(
    pending: Pending,
    request: Request,
    response: Response,
  ): Promise<boolean> {
    const user = pending.userId === null ? null : await this.signIn.current(request);
    if (!user || user.id !== pending.userId) return false;
    await this.pages.consent(response, pending, user);
    return true;
  }
}
