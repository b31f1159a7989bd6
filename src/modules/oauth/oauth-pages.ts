import { errorRedirect, type AuthorizationRefused } from './authorize/authorization-response.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { maskPhone } from '../../common/phone-number.js';
import { AppConfig } from '../../config/app-config.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import type { ConnectedAppView, FormBinding, SessionBinding } from '../../pages/views.js';
import type { SignInUser } from '../users/users.repository.js';
import type { ConnectedApp } from './account/connected-apps.service.js';
import type { Pending } from './authorize/authorizations.service.js';
import { GrantsRepository } from './grants/grants.repository.js';
import { SCOPE_SENTENCES } from './consent/scope-sentences.js';
import { START_AGAIN, type PageError } from './page-error.js';

/** What a form's page has to say beside the form. */
export interface Remark {
  status?: number;
  error?: string;
  notice?: string;
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

/** How somebody goes on from an error. */
export interface WayOn {
  /** The sentence in the place of `START_AGAIN`. */
  startAgain: string;
  /** What is said below every error. */
  footer?: string;
  link?: { href: string; text: string };
}

/** Whose pages these are, and what ties their forms to the session. */
export interface Membership {
  user: SignInUser;
  binding: SessionBinding;
}

/** Where the connected apps are. */
export const APPS_PATH = '/account/apps';

/** What an app's visitors read below what went wrong. */
export const NOT_BEFORE_ALLOWED = 'Nothing is shared with an app before you have allowed it.';

const AUTHORIZE_PATH = '/oauth/authorize';

/** The pages of signing in, of the app's request up to its redirect, and of the apps that a user has connected. */
@Injectable()
export class OAuthPages {
  constructor(
    private readonly renderer: PageRenderer,
    private readonly grants: GrantsRepository,
    private readonly config: AppConfig,
  ) {}

  phone(response: Response, place: SignInPlace, remark: Remark & { phone?: string } = {}): void {
    const { phone, error } = remark;
    this.send(response, this.renderer.phone({ ...signInView(place), phone, error }), remark);
  }

  code(response: Response, place: SignInPlace, phone: string, remark: Remark = {}): void {
    const { error, notice } = remark;
    const view = { ...signInView(place), phone, error, notice };
    this.send(response, this.renderer.code(view), remark);
  }

  /** Every requested scope has a box, ticked unless the user refused it the last time. */
  async consent(
    response: Response,
    { app, binding, redirectUri, scopes }: Pending,
    user: SignInUser,
  ): Promise<void> {
    const earlier = await this.grants.findLatestChoice(user.id, app.clientId);
    const refused = earlier?.requested.filter((name) => !earlier.granted.includes(name)) ?? [];
    const html = this.renderer.consent({
      ...binding,
      appName: app.name,
      redirectHost: recipientOf(redirectUri),
      user: { id: user.id, ...publicly(user) },
      scopes: scopes.map((name) => ({
        name,
        sentence: SCOPE_SENTENCES[name],
        checked: !refused.includes(name),
      })),
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PATH}`,
    });
    this.send(response, html, { leadsToApp: true });
  }

  connectedApps(
    response: Response,
    { user, binding }: Membership,
    apps: readonly ConnectedApp[],
    remark: Remark = {},
  ): void {
    const { error, notice } = remark;
    const view = { ...binding, user: publicly(user), apps: apps.map(inSentences), error, notice };
    this.send(response, this.renderer.connectedApps(view), remark);
  }

  connectedApp(response: Response, { user, binding }: Membership, app: ConnectedApp): void {
    const view = { ...binding, user: publicly(user), app: inSentences(app) };
    this.send(response, this.renderer.connectedApp(view), {});
  }

  error(
    response: Response,
    { status, title, paragraphs, retryAfterSeconds }: PageError,
    { startAgain, footer, link }: WayOn,
  ): void {
    const words = paragraphs.map((paragraph) =>
      paragraph === START_AGAIN ? startAgain : paragraph,
    );
    const html = this.renderer.message({ title, paragraphs: words, error: true, footer, link });
    this.send(response, html, { status, retryAfterSeconds });
  }

  /** An error that the app would be told by a redirect, which the visitor may follow or not. */
  refusal(response: Response, refused: AuthorizationRefused): void {
    const host = recipientOf(refused.redirectUri);
    const html = this.renderer.message({
      title: 'This link does not work',
      paragraphs: [
        'The app that sent you here made a mistake. Nothing was shared with it.',
        'You can close this page, or go back and try again from there.',
        `For the people who run the app: ${refused.message}`,
      ],
      error: true,
      footer: NOT_BEFORE_ALLOWED,
      link: {
        href: errorRedirect(refused, this.config.publicUrl),
        text: `Return to ${host}`,
      },
    });
    this.send(response, html, { status: 400 });
  }

  private send(
    response: Response,
    html: string,
    { status = 200, retryAfterSeconds, leadsToApp }: Remark & { leadsToApp?: boolean },
  ): void {
    response.status(status).set(pageHeaders({ secure: this.config.secure, leadsToApp }));
    if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
    response.send(html);
  }
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

function inSentences({ scopes, ...app }: ConnectedApp): ConnectedAppView {
  return { ...app, sentences: scopes.map((name) => SCOPE_SENTENCES[name]) };
}
