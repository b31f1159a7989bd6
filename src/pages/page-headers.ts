import type { Language } from './language.js';

/** `Cache-Control` of public files whose address stays the same in a new version. */
export const CACHE_FOR_ONE_HOUR = 'public, max-age=3600';

/**
 * The headers of the pages that `PageRenderer` renders (RFC 9700 §4.16), besides those of every response (`configureApp`).
 *
 * The consent page has no `form-action`: its form redirects to an app, browsers apply `form-action` to every redirect, and the
 * redirects of the app itself are unknown (decision 0011). Chromium, which alone supports `Document-Policy`, shows it from the top,
 * whatever the fragment of the link.
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with our own forms;
 * `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page in a pop-up and wait for its result.
 */
export function pageHeaders(options: {
  language: Language;
  isConsentPage?: boolean;
  /** Whether the page runs a script of ours. */
  runsScript?: boolean;
  /** The only picture that the page may load from another origin, such as the photo of the user. */
  pictureUrl?: string;
}): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': options.language,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      `img-src 'self'${pictureOrigin(options.pictureUrl)}`,
      ...(options.runsScript ? ["script-src 'self'"] : []),
      ...(options.isConsentPage ? [] : ["form-action 'self'"]),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    ...(options.isConsentPage ? { 'Document-Policy': 'force-load-at-top' } : {}),
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'unsafe-none',
  };
}

/** A host may contain `;` and `,` (WHATWG URL), which would end the directive or the policy. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

function pictureOrigin(url: string | undefined): string {
  const origin = url === undefined || !URL.canParse(url) ? '' : new URL(url).origin;
  return PLAIN_ORIGIN.test(origin) ? ` ${origin}` : '';
}
