import type { AppConfig } from '../../../platform/config/app-config.js';
import { isLoopback } from '../../../platform/config/loopback.js';

const LOOPBACK_LITERAL = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d{1,5})?(?=[/?]|$)/;
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;
const UNPRINTABLE = /[^\u0021-\u007e]/;
const MAX_LENGTH = 2000;
/** A host in brackets, the only place of brackets in a URI (RFC 3986 §3.2.2). */
const BRACKETED_HOST = /^[a-z][a-z\d+.-]*:\/\/\[[\da-f:.]+\]/;
/** The characters of a URI, with % only before two hexadecimal digits (RFC 3986 §2). */
const URI_CHARACTERS = /^(?:[\w\-.~:/?@!$&'()*+,;=]|%[\da-f]{2})*$/i;
/** A web URL with a host. `URL` would take the first part of the path of another one as its host. */
const WEB_URL = /^https?:\/\/[^/?]/;
/**
 * Parameters of authorization responses (RFC 6749 §4.1.2 and §4.2.2, RFC 9207 §2, OpenID Connect Core §3.2.2.5 and Session Management
 * §3, JARM §2.3). Clients could take a registered one for ours.
 */
const RESPONSE_PARAMETERS: ReadonlySet<string> = new Set([
  'code',
  'state',
  'iss',
  'error',
  'error_description',
  'error_uri',
  'access_token',
  'id_token',
  'response',
  'session_state',
]);

/**
 * Why a redirect URI cannot be registered (RFC 6749 §3.1.2, RFC 8252 §7.1). Undefined if it is valid. On this server, only Swagger UI
 * may receive codes.
 */
export function redirectUriProblem(
  uri: string,
  { publicUrl, docsRedirectUri }: Pick<AppConfig, 'publicUrl' | 'docsRedirectUri'>,
): string | undefined {
  if (uri.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (UNPRINTABLE.test(uri)) return 'must be printable ASCII without spaces';
  if (!URL.canParse(uri)) return 'must be an absolute URI';
  if (uri.includes('*')) return 'must not contain a wildcard; register each redirect URI in full';
  if (uri.includes('#')) return 'must not have a fragment';
  const { protocol, username, password, hostname, origin } = new URL(uri);
  if (!uri.startsWith(protocol)) return `must have its scheme in lower case, as ${protocol}`;
  if (/^https?:$/.test(protocol) && !uri.startsWith(`${protocol}//`))
    return 'must have // after its scheme';
  if (/^https?:$/.test(protocol) && (!WEB_URL.test(uri) || /^\.|\.\./.test(hostname)))
    return 'must have a host after //';
  if (!URI_CHARACTERS.test(uri.replace(BRACKETED_HOST, '')))
    return 'must be a URI: percent-encode characters such as \\ and [, and write % only before two hexadecimal digits';
  const taken = responseParameter(uri);
  if (taken !== undefined)
    return `must not have the parameter "${taken}", which belongs to authorization responses (RFC 6749 §4.1.2)`;
  if (username !== '' || password !== '') return 'must not contain a user name or password';
  if (origin === new URL(publicUrl).origin && uri !== docsRedirectUri)
    return `must not be on this server, ${publicUrl}: the app itself has to receive the code`;
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') {
    return isLoopback(hostname)
      ? undefined
      : 'must use https, or http with a loopback address or a name under localhost';
  }
  return PRIVATE_USE_SCHEME.test(protocol)
    ? undefined
    : 'must use https or a private-use scheme such as com.example.app:';
}

/** The first parameter of `RESPONSE_PARAMETERS`, also in other letter case, after a semicolon, or with brackets, as some servers read them. */
function responseParameter(uri: string): string | undefined {
  const names = uri
    .split(/[?&;]/)
    .slice(1)
    .map((part) => new URLSearchParams(part).keys().next().value ?? '');
  return names.find((name) =>
    RESPONSE_PARAMETERS.has(name.replace(/\[.*$/s, '').trim().toLowerCase()),
  );
}

/**
 * Compares exactly (RFC 9700 §4.1.3). With `anyLoopbackPort`, ignores the port of the addresses 127.0.0.1 and [::1], because the
 * operating system chooses it (RFC 8252 §7.3).
 */
export function redirectUriMatches(
  registered: string,
  requested: string,
  { anyLoopbackPort }: { anyLoopbackPort: boolean },
): boolean {
  if (registered === requested) return true;
  if (!anyLoopbackPort || !LOOPBACK_LITERAL.test(registered) || !LOOPBACK_LITERAL.test(requested))
    return false;
  // `canParse` rejects ports above 65535.
  return (
    URL.canParse(requested) && withoutLoopbackPort(registered) === withoutLoopbackPort(requested)
  );
}

/** The `Origin` of a browser app at this URL, without the port of a loopback address (RFC 8252 §7.3). Undefined if not http(s). */
export function corsOrigin(uri: string): string | undefined {
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri)) return undefined;
  const { origin } = new URL(uri);
  return withoutLoopbackPort(origin);
}

function withoutLoopbackPort(uri: string): string {
  return uri.replace(LOOPBACK_LITERAL, 'http://$1');
}
