import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callingCodes, formatPhone, maskPhone } from '../../users/phone-number.js';
import type { Scope } from '../../../platform/access/scopes.js';
import type { SignInUser } from '../../users/users.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { Catalogue } from '../../../pages/translations/en.js';
import { CATALOGUES, type TextSelector } from '../../../pages/translations/translations.js';
import { acceptedCountry, sortedByName, type Language } from '../../../pages/language.js';
import type { Text } from '../../../pages/translations/markup.js';
import type { PageError } from '../../../pages/page-errors.js';
import { pageHeaders } from '../../../pages/page-headers.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import type {
  AppView,
  CodeView,
  ConnectedAppView,
  ConsentView,
  CountryChoice,
  FormBinding,
  RepeatedConsentView,
  SessionBinding,
  UserView,
} from '../../../pages/views.js';
import { errorRedirect, type AuthorizationError } from '../protocol/authorization-response.js';
import { logoPath } from '../protocol/logo-path.js';
import { AUTHORIZE_PATH, languageOf, requestedLanguage } from './page-language.js';

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** The app whose authorization request an error page is about, with a safe URL to return to, if there is one. */
    requestingApp?: { name: string; returnTo?: { url: string; label: string } };
  }
}

export const ACCOUNT_PATH = '/account';
export const APPS_PATH = `${ACCOUNT_PATH}/apps`;

/** The result of the previous form, shown on the page. */
export interface Feedback {
  status?: number;
  error?: TextSelector;
  notice?: TextSelector;
  retryAfterSeconds?: number;
}

/** The registration of an app, as far as pages show it. */
export interface ShownApp {
  clientId: string;
  name: string;
  publisher: string | null;
  isVerified: boolean;
  logoHash: string | null;
  homepageUrl: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
}

/** The forms of a sign-in to an app or to the account pages. */
export interface SignInForm {
  binding: FormBinding;
  app?: ShownApp;
  /** Prefix of the form actions. Default: `/oauth/authorize`. */
  path?: string;
}

interface ConsentRequest {
  app: ShownApp;
  binding: FormBinding;
  redirectUri: string;
}

/** An app with access to the account of the user. */
export interface ConnectedApp extends Omit<ShownApp, 'homepageUrl' | 'privacyUrl' | 'termsUrl'> {
  scopes: readonly Scope[];
  /** Time of the first grant. */
  grantedAt: Date;
  lastUsedAt: Date | null;
}

/** The signed-in user of the account pages, with the fields that bind forms to the session. */
export interface AccountSession {
  user: SignInUser;
  binding: SessionBinding;
}

/** How the user continues from an error page. */
interface Recovery {
  startAgain: (texts: Catalogue) => string;
  footer: (texts: Catalogue) => string;
  link?: { href: string; text: (texts: Catalogue) => string };
  /** Of the page of error codes. Default: that of the error page. */
  anchor?: string;
  /** In English, for the developers of the app. */
  description?: string;
}

const BACK_TO_APP: Recovery = {
  startAgain: ({ recovery }) => recovery.backToApp,
  footer: ({ recovery }) => recovery.appFooter,
};
const BACK_TO_ACCOUNT: Recovery = {
  startAgain: ({ recovery }) => recovery.backToAccount,
  footer: ({ recovery }) => recovery.accountFooter,
  link: { href: APPS_PATH, text: ({ apps }) => apps.title },
};

/** A `PageError`, or an error with the code of an `OAuthError`. */
type ShownError = Pick<PageError, 'status' | 'text' | 'retryAfterSeconds' | 'requestId'> & {
  code: string;
};

type Render = (language: Language, texts: { error?: Text; notice?: Text }) => string;

interface Sending extends Feedback {
  isConsentPage?: boolean;
  runsScript?: boolean;
  pictureUrl?: string | null;
}

/** Sends the pages of sign-in, consent and connected apps, and the error pages. */
@Injectable()
export class OAuthPages {
  /** By language. Names and sorting take milliseconds. */
  private readonly countries = new Map<Language, readonly CountryChoice[]>();

  constructor(
    private readonly renderer: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  /** @param feedback.phone as the user typed it; `country` as the user selected it */
  sendPhonePage(
    response: Response,
    form: SignInForm,
    feedback: Feedback & { phone?: string; country?: string } = {},
  ): void {
    const { phone } = feedback;
    const view = { ...signInView(response, form), phone };
    this.send(response, feedback, (language, texts) => {
      const countries = this.countriesIn(language);
      const country = this.countryFor(response.req, countries, feedback.country);
      return this.renderer.phone({ ...view, ...texts, countries, country }, language);
    });
  }

  sendOneTimePasswordPage(
    response: Response,
    form: SignInForm,
    code: Pick<
      CodeView,
      'phone' | 'phonePageUrl' | 'isOpen' | 'attemptsLeft' | 'resendAfterSeconds'
    >,
    feedback: Feedback = {},
  ): void {
    const formattedPhone = formatPhone(code.phone);
    const view = { ...signInView(response, form), ...code, formattedPhone };
    this.send(response, { ...feedback, runsScript: true }, (language, texts) =>
      this.renderer.code({ ...view, ...texts }, language),
    );
  }

  sendConsentPage(
    response: Response,
    request: ConsentRequest,
    choice: Pick<ConsentView, 'scopes' | 'hasEarlierGrant'>,
    user: SignInUser,
  ): void {
    const view = {
      ...consentFormView(response, request, user),
      ...choice,
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PATH}`,
    };
    const sending = { isConsentPage: true, runsScript: true, pictureUrl: user.photoUrl };
    this.send(response, sending, (language) => this.renderer.consent(view, language));
  }

  /** @param choice.consentPageUrl where the user can allow less */
  sendRepeatedConsentPage(
    response: Response,
    request: ConsentRequest,
    choice: Pick<RepeatedConsentView, 'scopes' | 'consentPageUrl'>,
    user: SignInUser,
  ): void {
    const view = { ...consentFormView(response, request, user), ...choice };
    const sending = { isConsentPage: true, runsScript: true, pictureUrl: user.photoUrl };
    this.send(response, sending, (language) => this.renderer.repeatedConsent(view, language));
  }

  sendConnectedAppsPage(
    response: Response,
    { user, binding }: AccountSession,
    apps: readonly ConnectedApp[],
    feedback: Feedback = {},
  ): void {
    const view = { ...binding, user: userView(user), apps: apps.map(connectedAppView) };
    const sending = { ...feedback, runsScript: true, pictureUrl: user.photoUrl };
    this.send(response, sending, (language, texts) =>
      this.renderer.connectedApps({ ...view, ...texts }, language),
    );
  }

  sendConnectedAppPage(
    response: Response,
    { user, binding }: AccountSession,
    app: ConnectedApp,
  ): void {
    const view = { ...binding, user: userView(user), app: connectedAppView(app) };
    this.send(response, { runsScript: true, pictureUrl: user.photoUrl }, (language) =>
      this.renderer.connectedApp(view, language),
    );
  }

  sendErrorPage(
    response: Response,
    error: ShownError,
    recovery = recoveryFrom(response.req),
  ): void {
    const { requestingApp, requestId: ownId } = response.req.context;
    const { status, code, retryAfterSeconds, requestId = ownId } = error;
    const { startAgain, footer, link, anchor = `page-${code}`, description } = recovery;
    this.send(response, { status, retryAfterSeconds }, (language) => {
      const catalogue = CATALOGUES[language];
      const view = {
        ...error.text(language, startAgain(catalogue)),
        error: true,
        footer: footer(catalogue),
        link: link && { href: link.href, text: link.text(catalogue) },
        appName: requestingApp?.name,
        details: { code, description, requestId, documentationUrl: `/docs/errors#${anchor}` },
      };
      return this.renderer.message(view, language);
    });
  }

  /** Shows a signed-out user an authorization error, with a link to the app instead of a redirect (RFC 9700 §4.11.2). */
  sendAuthorizationErrorPage(
    response: Response,
    appName: string,
    thrown: AuthorizationError,
  ): void {
    const href = errorRedirect(thrown, this.config.publicUrl);
    const { code, message: description } = thrown.error;
    const text: PageError['text'] = (language) =>
      CATALOGUES[language].invalidAuthorizationRequest(appName);
    const recovery: Recovery = {
      ...BACK_TO_APP,
      anchor: `oauth-${code}`,
      description,
      link: { href, text: (texts) => texts.recovery.returnTo(appName) },
    };
    this.sendErrorPage(response, { status: 400, code, text }, recovery);
    response.req.context.errorCode = code;
  }

  private countriesIn(language: Language): readonly CountryChoice[] {
    let countries = this.countries.get(language);
    if (!countries) {
      const named = callingCodes(this.config.otp.countries);
      countries = sortedByName(named, language);
      this.countries.set(language, countries);
    }
    return countries;
  }

  /** The country to select: the given one, the configured one, the one of the browser, or the only one. */
  private countryFor(
    request: Request,
    countries: readonly CountryChoice[],
    given?: string,
  ): string | undefined {
    const listed = (code?: string): boolean => countries.some((country) => country.code === code);
    const candidates = [given, this.config.otp.defaultCountry, acceptedCountry(request)];
    return candidates.find(listed) ?? (countries.length === 1 ? countries[0]?.code : undefined);
  }

  private send(response: Response, sending: Sending, render: Render): void {
    const { status = 200, error, notice, retryAfterSeconds, ...page } = sending;
    const language = languageOf(response.req);
    const catalogue = CATALOGUES[language];
    const pictureUrl = page.pictureUrl ?? undefined;
    response.status(status).set(pageHeaders({ ...page, language, pictureUrl }));
    response.vary('Accept-Language');
    if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
    response.send(render(language, { error: error?.(catalogue), notice: notice?.(catalogue) }));
  }
}

function signInView(response: Response, { binding, app, path = AUTHORIZE_PATH }: SignInForm) {
  const uiLocale = requestedLanguage(response.req);
  return { ...binding, uiLocale, path, app: app && appView(app) };
}

function consentFormView(
  response: Response,
  { app, binding, redirectUri }: ConsentRequest,
  user: SignInUser,
) {
  const { homepageUrl, privacyUrl, termsUrl } = app;
  return {
    ...binding,
    uiLocale: requestedLanguage(response.req),
    app: { ...appView(app), homepageUrl, privacyUrl, termsUrl },
    redirectHost: returnsTo(redirectUri, app.name),
    user: { id: user.id, ...userView(user) },
  };
}

function appView({
  clientId,
  name,
  publisher,
  isVerified,
  logoHash,
}: Omit<ShownApp, 'homepageUrl' | 'privacyUrl' | 'termsUrl'>): AppView {
  const path = logoHash === null ? null : logoPath(clientId, logoHash);
  return { name, publisher, isVerified, logoPath: path };
}

function connectedAppView(app: ConnectedApp): ConnectedAppView {
  const { clientId, scopes, grantedAt, lastUsedAt } = app;
  return { ...appView(app), clientId, scopes, grantedAt, lastUsedAt };
}

/** The host to which the browser returns. A private-use scheme opens the app itself. */
function returnsTo(redirectUri: string, appName: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : appName;
}

/** Masks the phone, because other people may see the screen. */
function userView({ name, phone, photoUrl }: SignInUser): UserView {
  return { name, maskedPhone: maskPhone(phone), photoUrl };
}

function recoveryFrom({ path, context }: Request): Recovery {
  if (/^\/account\b/i.test(path)) return BACK_TO_ACCOUNT;
  const { returnTo } = context.requestingApp ?? {};
  if (!returnTo) return BACK_TO_APP;
  const text = ({ recovery }: Catalogue): string => recovery.returnTo(returnTo.label);
  return { ...BACK_TO_APP, link: { href: returnTo.url, text } };
}
