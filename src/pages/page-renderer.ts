import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { Response } from 'express';
import { assetUrl } from '../platform/asset-url.js';
import { AppConfig } from '../platform/config/app-config.js';
import { retryAfter } from '../platform/retry-after.js';
import { excerptOf, formatTime, initialOf } from './formats.js';
import { type Language, languageOf, requestedLanguage } from './language.js';
import { toHtml } from './translations/markup.js';
import { CATALOGUES } from './translations/translations.js';
import type { Views } from './views.js';

/** `Cache-Control` of public files whose address stays the same in a new version. */
export const CACHE_FOR_ONE_HOUR = 'public, max-age=3600';

interface PageKind {
  /** Whether the page runs a script of ours. */
  runsScript?: boolean;
  isConsentPage?: boolean;
  /** Whether the page is in English only. */
  isEnglish?: boolean;
}

const PAGES: Readonly<Record<keyof Views, PageKind>> = {
  phone: {},
  code: { runsScript: true },
  consent: { runsScript: true, isConsentPage: true },
  'repeated-consent': { runsScript: true, isConsentPage: true },
  'connected-apps': { runsScript: true },
  'connected-app': { runsScript: true },
  post: {},
  message: {},
  landing: {},
  errors: { isEnglish: true },
  guide: { runsScript: true, isEnglish: true },
};

interface Sending {
  /** Default: 200. */
  status?: number;
  retryAfterSeconds?: number;
  /** In addition to those of `pageHeaders`, or instead of them. */
  headers?: Readonly<Record<string, string>>;
}

/** Renders and sends the HTML pages. Escapes the values of views, except `Markup`. Every page works without JavaScript. */
@Injectable()
export class PageRenderer {
  private readonly eta = new Eta({
    views: fileURLToPath(assetUrl('src/pages/templates')),
    autoEscape: true,
    escapeFunction: toHtml,
    cache: true,
  });

  constructor(private readonly config: AppConfig) {}

  /** Sends a page in the language of the request. */
  send<Page extends keyof Views>(
    response: Response,
    page: Page,
    view: Views[Page],
    { status = 200, retryAfterSeconds, headers }: Sending = {},
  ): void {
    const { isEnglish, ...kind } = PAGES[page];
    const language = isEnglish ? 'en' : languageOf(response.req);
    const uiLocale = requestedLanguage(response.req);
    const html = this.render(page, { ...view, uiLocale }, language);
    response.status(status).set(pageHeaders({ ...kind, language, pictureUrl: pictureOf(view) }));
    if (!isEnglish) response.vary('Accept-Language');
    if (retryAfterSeconds !== undefined) response.set(retryAfter(retryAfterSeconds));
    response.set({ ...headers }).send(html);
  }

  render<Page extends keyof Views>(page: Page, view: Views[Page], language: Language): string {
    const texts = CATALOGUES[language];
    const { name, logo, ...brand } = this.config.brand;
    const network = { ...brand, name: name ?? texts.layout.network, logo: logo?.type };
    const time = (value: Date): object => formatTime(value, texts.locale);
    const number = (value: number): string => value.toLocaleString(texts.locale);
    const helpers = { initialOf, excerptOf, hostOf, time, number };
    return this.eta.render(`./${page}`, { ...view, ...helpers, language, texts, network });
  }
}

/**
 * The headers of a page (RFC 9700 §4.16), besides those of every response (`configureApp`).
 *
 * The consent page has no `form-action`: its form redirects to an app, browsers apply `form-action` to every redirect, and the
 * redirects of the app itself are unknown (decision 0011). Chromium, which alone supports `Document-Policy`, shows it from the top,
 * whatever the fragment of the link.
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with our own forms;
 * `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page in a pop-up and wait for its result.
 *
 * @param page.pictureUrl the only picture that the page may load from another origin, such as the photo of the user
 */
export function pageHeaders(
  page: Pick<PageKind, 'runsScript' | 'isConsentPage'> & {
    language: Language;
    pictureUrl?: string | null;
  },
): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': page.language,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      `img-src 'self'${pictureOrigin(page.pictureUrl ?? '')}`,
      ...(page.runsScript ? ["script-src 'self'"] : []),
      ...(page.isConsentPage ? [] : ["form-action 'self'"]),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    ...(page.isConsentPage ? { 'Document-Policy': 'force-load-at-top' } : {}),
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'unsafe-none',
  };
}

function pictureOf(view: Views[keyof Views]): string | null {
  return 'user' in view ? view.user.photoUrl : null;
}

/** A host may contain `;` and `,` (WHATWG URL), which would end the directive or the policy. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

function pictureOrigin(url: string): string {
  const origin = URL.canParse(url) ? new URL(url).origin : '';
  return PLAIN_ORIGIN.test(origin) ? ` ${origin}` : '';
}

/** The host in punycode, which exposes homographs. Unchanged if the URL is invalid. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  }
}
