import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { maskPhone } from '../../users/phone-number.js';
import type { SignInUser } from '../../users/users.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { CATALOGUES, type TextSelector } from '../../../pages/translations/translations.js';
import type { Language } from '../../../pages/language.js';
import { pageHeaders } from '../../../pages/page-headers.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import type {
  ConnectedAppView,
  ConsentView,
  FormBinding,
  SessionBinding,
} from '../../../pages/views.js';
import { errorRedirect, type AuthorizationError } from '../protocol/authorization-response.js';
import { invalidAuthorizationRequest, type PageError } from '../protocol/page-error.js';
import { AUTHORIZE_PATH, languageOf, requestedLanguage } from '../protocol/page-language.js';

export const ACCOUNT_PATH = '/account';
export const APPS_PATH = `${ACCOUNT_PATH}/apps`;

/** The result of the previous form, shown on the page. */
export interface Feedback {
  status?: number;
  error?: TextSelector;
  notice?: TextSelector;
  retryAfterSeconds?: number;
}

/** The forms of a sign-in to an app or to the account pages. */
export interface SignInForm {
  binding: FormBinding;
  app?: { name: string };
  /** Prefix of the form actions. Default: `/oauth/authorize`. */
  path?: string;
}

interface ConsentRequest {
  app: { name: string };
  binding: FormBinding;
  redirectUri: string;
}

/** The signed-in user of the account pages, with the fields that bind forms to the session. */
export interface AccountSession {
  user: SignInUser;
  binding: SessionBinding;
}

/** How the user continues from an error page. */
interface Recovery {
  startAgain: TextSelector;
  footer: TextSelector;
  link?: { href: string; text: TextSelector };
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

type Render = (language: Language, texts: { error?: string; notice?: string }) => string;

/** Sends the pages of sign-in, consent and connected apps, and the error pages. */
@Injectable()
export class OAuthPages {
  constructor(
    private readonly renderer: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  sendPhonePage(
    response: Response,
    form: SignInForm,
    feedback: Feedback & { phone?: string } = {},
  ): void {
    const view = { ...signInView(response, form), phone: feedback.phone };
    this.send(response, feedback, (language, texts) =>
      this.renderer.phone({ ...view, ...texts }, language),
    );
  }

  /** @param code.phonePageUrl where the user can enter another number */
  sendOneTimePasswordPage(
    response: Response,
    form: SignInForm,
    code: { phone: string; phonePageUrl: string },
    feedback: Feedback = {},
  ): void {
    const view = { ...signInView(response, form), ...code };
    this.send(response, feedback, (language, texts) =>
      this.renderer.code({ ...view, ...texts }, language),
    );
  }

  sendConsentPage(
    response: Response,
    { app, binding, redirectUri }: ConsentRequest,
    choice: Pick<ConsentView, 'scopes' | 'hasEarlierGrant'>,
    user: SignInUser,
  ): void {
    const view = {
      ...binding,
      uiLocale: requestedLanguage(response.req),
      appName: app.name,
      redirectHost: returnsTo(redirectUri, app.name),
      user: { id: user.id, ...maskedUser(user) },
      ...choice,
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PATH}`,
    };
    this.send(response, { isConsentPage: true }, (language) =>
      this.renderer.consent(view, language),
    );
  }

  sendConnectedAppsPage(
    response: Response,
    { user, binding }: AccountSession,
    apps: readonly ConnectedAppView[],
    feedback: Feedback = {},
  ): void {
    const view = { ...binding, user: maskedUser(user), apps };
    this.send(response, feedback, (language, texts) =>
      this.renderer.connectedApps({ ...view, ...texts }, language),
    );
  }

  sendConnectedAppPage(
    response: Response,
    { user, binding }: AccountSession,
    app: ConnectedAppView,
  ): void {
    const view = { ...binding, user: maskedUser(user), app };
    this.send(response, {}, (language) => this.renderer.connectedApp(view, language));
  }

  sendErrorPage(
    response: Response,
    { status, selectText, retryAfterSeconds }: PageError,
    { startAgain, footer, link }: Recovery = recoveryFrom(response.req),
  ): void {
    this.send(response, { status, retryAfterSeconds }, (language) => {
      const catalogue = CATALOGUES[language];
      const errors = catalogue.errors(startAgain(catalogue));
      const view = {
        ...selectText(errors),
        error: true,
        footer: footer(catalogue),
        link: link && { href: link.href, text: link.text(catalogue) },
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
    this.sendErrorPage(response, invalidAuthorizationRequest(appName, thrown.error), {
      ...BACK_TO_APP,
      link: { href, text: ({ recovery }) => recovery.returnTo(appName) },
    });
    response.req.context.errorCode = thrown.error.code;
  }

  private send(
    response: Response,
    feedback: Feedback & { isConsentPage?: boolean },
    render: Render,
  ): void {
    const { status = 200, error, notice, retryAfterSeconds, isConsentPage } = feedback;
    const language = languageOf(response.req);
    const catalogue = CATALOGUES[language];
    const { secure } = this.config;
    response.status(status).set(pageHeaders({ secure, language, isConsentPage }));
    response.vary('Accept-Language');
    if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
    response.send(render(language, { error: error?.(catalogue), notice: notice?.(catalogue) }));
  }
}

function signInView(response: Response, { binding, app, path = AUTHORIZE_PATH }: SignInForm) {
  return { ...binding, uiLocale: requestedLanguage(response.req), path, appName: app?.name };
}

/** The host to which the browser returns. A private-use scheme opens the app itself. */
function returnsTo(redirectUri: string, appName: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : appName;
}

/** Masks the phone, because other people may see the screen. */
function maskedUser({ name, phone }: SignInUser): { name: string; maskedPhone: string } {
  return { name, maskedPhone: maskPhone(phone) };
}

function recoveryFrom({ path }: Request): Recovery {
  return /^\/account\b/i.test(path) ? BACK_TO_ACCOUNT : BACK_TO_APP;
}
