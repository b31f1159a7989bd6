import { codePoints } from '../../text.js';

/**
 * The scheme, `//` and an authority without userinfo (RFC 3986 §3.2.1). The URL Standard would also read `https:x` and
 * `https:///x`, in which other URL parsers find no host.
 */
const WITH_AUTHORITY = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;
/**
 * White space, backslashes, control characters and lone surrogates. The URL Standard removes or replaces many of them, so other URL
 * parsers would read another URL. C1 controls are allowed, as in all texts: the URL Standard only percent-encodes them.
 */
const FORBIDDEN = /(?![\u0080-\u009f])[\s\\\p{Cc}\p{Cs}]/u;
/** So that ten URLs of 2,048 characters fit their column: a non-ASCII character takes up to four bytes. */
const MAX_NON_ASCII = 1000;

/**
 * Whether the URL Standard parses a text as an http or https URL, and the text has `://`, a host and at most 1,000 non-ASCII
 * characters, but no userinfo, white space, control characters or backslashes.
 */
export function isWebUrl(text: string): boolean {
  if (!WITH_AUTHORITY.test(text) || FORBIDDEN.test(text)) return false;
  if (codePoints(text.replace(/[!-~]+/g, '')) > MAX_NON_ASCII) return false;
  try {
    // Not `URL.canParse`: once optimized, it is wrong in Node 20 for U+0080 to U+00FF.
    return new URL(text).hostname !== '';
  } catch {
    return false;
  }
}
