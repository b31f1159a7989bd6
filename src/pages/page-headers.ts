import type { Language } from './language.js';

/**
 * The headers of every HTML answer, errors and 429 included.
 *
 * Forms of a page may lead to this server only, but for the page whose form is answered by a redirect to an app: browsers
 * apply `form-action` to every address on the way, and where an app's own redirects lead nobody here knows (decision 0011).
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with
 * our own forms; `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page
 * in a pop-up and wait for it.
 *
 * @param options.secure whether the public URL is https; HSTS has no meaning on plain http
 * @param options.language of the page (RFC 9110 §8.5)
 * @param options.leadsToApp whether a form of the page is answered by a redirect to an app
 * @see RFC 9700 §4.16
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
