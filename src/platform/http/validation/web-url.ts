import { isIPv4 } from 'node:net';
import { codePoints } from '../../text.js';

/**
 * Captures the host and port. The host may be internationalized. Does not match URLs with userinfo (RFC 3986 §3.2.1) or
 * percent-encoded hosts.
 */
const AUTHORITY = /^https?:\/\/([\p{L}\p{M}\p{Nd}_\-.:[\]]+)(?:[/?#]|$)/iu;
/**
 * Spaces, backslashes, control characters and lone surrogates. The URL Standard removes or replaces many of them, so other URL parsers
 * would read another URL. C1 controls are allowed, as in all texts: the URL Standard only percent-encodes them.
 */
const FORBIDDEN = /(?![\u0080-\u009f])[\s\\\p{Cc}\p{Cs}]/u;
/** So that ten URLs of 2,048 characters fit their column: a non-ASCII character takes up to four bytes. */
const MAX_NON_ASCII = 1000;

/**
 * Whether a text is an absolute http or https URL without userinfo, spaces or backslashes, and with at most 1,000
 * non-ASCII characters. Uses `new URL`, because the optimized `URL.canParse` of Node 20 is wrong for U+0080 to U+00FF.
 */
export function isWebUrl(text: string): boolean {
  const authority = AUTHORITY.exec(text)?.[1];
  if (authority === undefined || FORBIDDEN.test(text)) return false;
  if (codePoints(text.replace(/[!-~]+/g, '')) > MAX_NON_ASCII) return false;
  const hostname = hostnameOf(text);
  if (hostname === undefined) return false;
  // The URL Standard also parses 1.2.3 and 0x7f.1 as IPv4 addresses; other URL parsers treat them as names.
  if (isIPv4(hostname)) return authority.replace(/:\d*$/, '') === hostname;
  return !hostname.startsWith('.') && !hostname.includes('..');
}

function hostnameOf(text: string): string | undefined {
  try {
    return new URL(text).hostname;
  } catch {
    return undefined;
  }
}
