import { errorRedirect, type AuthorizationRefused } from '../protocol/authorization-response.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { maskPhone } from '../../users/phone-number.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { CATALOGUES, type Sentence } from '../../../pages/translations/translations.js';
import type { Catalogue } from '../../../pages/translations/en.js';
import type { Language } from '../../../pages/language.js';
import { pageHeaders } from '../../../pages/page-headers.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import type {
  ConnectedAppView,
  FormBinding,
  ScopeChoice,
  SessionBinding,
} from '../../../pages/views.js';
import type { SignInUser } from '../../users/users.repository.js';
import { refusedRequest, type PageError } from '../protocol/page-error.js';
import { AUTHORIZE_PATH, languageOf, requestedLanguage } from '../protocol/page-language.js';

/** What a form's page has to say beside the form. */
export interface Remark {
  status?: number;
  error?: Sentence;
  notice?: Sentence;
  retryAfterSeconds?: number;
}

/** What the pages of signing in are part of: an app's request, or the account's own pages. */
export interface SignInPlace {
  binding: FormBinding;
  /** Who asked, where an app did. */
  app?: { name: string };
  /** What the addresses of the forms begin with; the authorization endpoint unless told otherwise. */
  path?: string;
}

/** The authorization request that a consent page asks about. */
export interface ConsentRequest {
  app: { name: string };
  binding: FormBinding;
  redirectUri: string;
}

/** How somebody goes on from an error. */
export interface RecoveryLink {
  startAgain: Sentence;
  /** What is said below every error. */
  footer: Sentence;
  link?: { href: string; text: Sentence };
}

/** Whose pages these are, and what ties their forms to the session. */
export interface AccountIdentity {
  user: SignInUser;
  binding: SessionBinding;
}

/** Where the connected apps are. */
export const APPS_PATH = '/account/apps';

type Render = (language: Language, words: Catalogue) => string;

/** The pages of signing in, of the app's request up to its redirect, and of the apps that a user has connected. */
@Injectable()
export class OAuthPages {
  constructor(
    private readonly renderer: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  phone(response: Response, place: SignInPlace, remark: Remark & { phone?: string } = {}): void {
    const { phone, error } = remark;
    const view = { ...signInView(place), ...kept(response), phone };
    this.send(response, remark, (language, words) =>
      this.renderer.phone({ ...view, error: error?.(words) }, language),
    );
  }

  code(response: Response, place: SignInPlace, phone: string, remark: Remark = {}): void {
    const { error, notice } = remark;
    const view = { ...signInView(place), ...kept(response), phone };
    this.send(response, remark, (language, words) =>
      this.renderer.code({ ...view, error: error?.(words), notice: notice?.(words) }, language),
    );
  }

  /** @param scopes a box for each requested scope */
  consent(
    response: Response,
    { app, binding, redirectUri }: ConsentRequest,
    scopes: readonly ScopeChoice[],
    user: SignInUser,
  ): void {
    const view = {
      ...binding,
      ...kept(response),
      appName: app.name,
      redirectHost: recipientOf(redirectUri),
      user: { id: user.id, ...publicly(user) },
      scopes,
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PATH}`,
    };
    this.send(response, { leadsToApp: true }, (language) => this.renderer.consent(view, language));
  }

  connectedApps(
    response: Response,
    { user, binding }: AccountIdentity,
    apps: readonly ConnectedAppView[],
    remark: Remark = {},
  ): void {
    const { error, notice } = remark;
    const view = { ...binding, user: publicly(user), apps };
    this.send(response, remark, (language, words) =>
      this.renderer.connectedApps(
        { ...view, error: error?.(words), notice: notice?.(words) },
        language,
      ),
    );
  }

  connectedApp(
    response: Response,
    { user, binding }: AccountIdentity,
    app: ConnectedAppView,
  ): void {
    const view = { ...binding, user: publicly(user), app };
    this.send(response, {}, (language) => this.renderer.connectedApp(view, language));
  }

  error(
    response: Response,
    { status, text, retryAfterSeconds }: PageError,
    { startAgain, footer, link }: RecoveryLink,
  ): void {
    this.send(response, { status, retryAfterSeconds }, (language, words) => {
      const view = {
        ...text(words.errors(startAgain(words))),
        error: true,
        footer: footer(words),
        link: link && { href: link.href, text: link.text(words) },
      };
      return this.renderer.message(view, language);
    });
  }

  /** An error of the app's request, with a link that takes it to the app (RFC 9700 §4.11.2). */
  refusal(response: Response, app: string, refused: AuthorizationRefused): void {
    const href = errorRedirect(refused, this.config.publicUrl);
    this.error(response, refusedRequest(app, refused.error), {
      startAgain: ({ wayOn }) => wayOn.toApp,
      footer: ({ wayOn }) => wayOn.ofApp,
      link: { href, text: ({ wayOn }) => wayOn.returnTo(app) },
    });
    response.req.context.errorCode = refused.error.code;
  }

  private send(
    response: Response,
    { status = 200, retryAfterSeconds, leadsToApp }: Remark & { leadsToApp?: boolean },
    render: Render,
  ): void {
    const language = languageOf(response.req);
    const { secure } = this.config;
    response.status(status).set(pageHeaders({ secure, language, leadsToApp }));
    response.vary('Accept-Language');
    if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
    response.send(render(language, CATALOGUES[language]));
  }
}

/** What the forms of an app's request pass on beside their binding. */
function kept(response: Response): Pick<FormBinding, 'uiLocale'> {
  return { uiLocale: requestedLanguage(response.req) };
}

/** Who gets the answer, as a person can check it: the host, or the scheme that an installed app has registered. */
function recipientOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

function signInView({ binding, app, path = AUTHORIZE_PATH }: SignInPlace) {
  return { ...binding, path, appName: app?.name };
}

/** A user as their own pages show them, even to whoever looks over their shoulder. */
function publicly({ name, phone }: SignInUser): { name: string; maskedPhone: string } {
  return { name, maskedPhone: maskPhone(phone) };
}
