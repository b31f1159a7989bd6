/** An `http` or `https` origin that Content Security Policy can express as a host-source. */
const HOST_SOURCE = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

/**
 * The headers of every HTML answer, errors and 429 included.
 *
 * `formTargets` are the sources that forms of this page may lead to besides this server, each made
 * by `formTargetOf`. The consent page needs one: browsers apply `form-action` not only to the
 * form's own address but also to the redirect that answers it. With `'self'` alone, "Allow" would
 * do nothing and leave a spent code behind. Give only the validated redirect URI of this request.
 *
 * `Referrer-Policy` is `same-origin` because under `no-referrer` browsers send `Origin: null` with
 * our own forms; `Cross-Origin-Opener-Policy` is `unsafe-none` because apps open the consent page
 * in a pop-up and wait for it.
 *
 * @param options.secure whether the public URL is https; HSTS has no meaning on plain http
 * @see RFC 9700 §4.16
 */
export function pageHeaders(options: {
  secure: boolean;
  formTargets?: readonly string[];
}): Record<string, string> {
  const formAction = ["'self'", ...new Set(options.formTargets)].join(' ');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      `form-action ${formAction}`,
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

/**
 * The `form-action` source that lets a form's answer redirect to `redirectUri`: the origin of an
 * http(s) URI, or `scheme:` of a private-use one (RFC 8252 §7.1).
 *
 * An origin outside CSP's host grammar becomes its scheme: browsers ignore `http://[::1]:8080`, a
 * loopback redirect that RFC 8252 §7.3 allows, and characters such as `;` would end the directive.
 *
 * @param redirectUri absolute and already validated against the app's registration
 * @throws TypeError when it is not an absolute URI
 */
export function formTargetOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return HOST_SOURCE.test(origin) ? origin : protocol;
}
