import type { Language } from './language.js';

/**
 * The headers of every HTML response (RFC 9700 §4.16).
 *
 * `leadsToApp`: a form of the page is answered by a redirect to an app. Browsers apply `form-action` to every redirect, and
 * the app's own redirects are unknown (decision 0011), so such a page has no `form-action`.
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with our own forms;
 * `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page in a pop-up and wait for it.
 */
export function pageHeaders(options: {
  secure: boolean;
  language: Language;
  leadsToApp?: boolean;
}): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': options.language,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      ...(options.leadsToApp ? [] : ["form-action 'self'"]),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'unsafe-none',
    ...(options.secure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}
