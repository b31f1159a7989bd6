const LOOPBACK_LITERAL = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d{1,5})?(?=[/?]|$)/;
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;
const UNPRINTABLE = /[^\u0021-\u007e]/;
const LONGEST = 2000;

/**
 * Why a redirection URI cannot be registered, or undefined when it can: absolute, no fragment (RFC 6749 §3.1.2), no
 * wildcard, no user name, https, or http on loopback only, or a private-use scheme with a dot in it (RFC 8252 §7.1).
 */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > LONGEST) return `must be at most ${LONGEST} characters`;
  if (UNPRINTABLE.test(uri)) return 'must be printable ASCII without spaces';
  if (!URL.canParse(uri)) return 'must be an absolute URI';
  if (uri.includes('*')) return 'must not contain a wildcard: every redirect is registered in full';
  if (uri.includes('#')) return 'must not have a fragment';
  const { protocol, username, password, hostname } = new URL(uri);
  if (/^https?:$/.test(protocol) && !/^https?:\/\//.test(uri))
    return 'must have // after its scheme';
  if (username !== '' || password !== '') return 'must not hold a user name or password';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') {
    return LOOPBACK_HOSTS.has(hostname)
      ? undefined
      : 'must use https; plain http is for loopback addresses only';
  }
  return PRIVATE_USE_SCHEME.test(protocol)
    ? undefined
    : 'must use https or a private-use scheme such as com.example.app:';
}

/**
 * Whether a requested redirection URI is the registered one. Strings are compared exactly (RFC 9700 §4.1.3), but for the
 * port of a public app's loopback address, which the operating system chooses (RFC 8252 §7.3).
 */
export function redirectUriMatches(
  registered: string,
  requested: string,
  anyLoopbackPort: boolean,
): boolean {
  if (registered === requested) return true;
  if (!anyLoopbackPort || !LOOPBACK_LITERAL.test(registered) || !LOOPBACK_LITERAL.test(requested))
    return false;
  // Refuses ports above 65535, which no browser could follow.
  return URL.canParse(requested) && withoutPort(registered) === withoutPort(requested);
}

/**
 * The `Origin` that a browser app at this address sends, or undefined when it sends none or `null`. A loopback address
 * stands for each of its ports, as in redirects (RFC 8252 §7.3).
 */
export function callingOrigin(uri: string): string | undefined {
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri)) return undefined;
  const { origin } = new URL(uri);
  return withoutPort(origin);
}

function withoutPort(uri: string): string {
  return uri.replace(LOOPBACK_LITERAL, 'http://$1');
}
