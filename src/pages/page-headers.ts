import type { Language } from './language.js';

/**
 * The headers of the pages that `PageRenderer` renders (RFC 9700 §4.16).
 *
 * The consent page has no `form-action`: its form redirects to an app, browsers apply `form-action` to every redirect, and the
 * redirects of the app itself are unknown (decision 0011). It runs a script of ours. Chromium, which alone supports
 * `Document-Policy`, shows it from the top, whatever the fragment of the link.
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with our own forms;
 * `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page in a pop-up and wait for its result.
 */
export function pageHeaders(options: {
  secure: boolean;
  language: Language;
  isConsentPage?: boolean;
}): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': options.language,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      ...(options.isConsentPage ? ["script-src 'self'"] : ["form-action 'self'"]),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    ...(options.isConsentPage ? { 'Document-Policy': 'force-load-at-top' } : {}),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'unsafe-none',
    ...(options.secure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}
