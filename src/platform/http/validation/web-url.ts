import { isIPv4 } from 'node:net';
import { codePoints } from '../../text.js';

/** The host and port as they were written. The host may be international; a user name or a percent-encoded host is not taken. */
const AUTHORITY = /^https?:\/\/([\p{L}\p{M}\p{Nd}_\-.:[\]]+)(?:[/?#]|$)/iu;
/** The URL Standard would drop or replace these, so the URL that others read would not be the one that was sent. */
const FORBIDDEN = /(?![\u0080-\u009f])[\s\\\p{Cc}\p{Cs}]/u;
/** Ten URLs of 2,048 characters then fit their column, at four bytes for each of these. */
const MAX_NON_ASCII = 1000;

/**
 * Whether a text is an absolute http or https URL without user name, password, spaces or backslashes, and with at most 1,000
 * characters beyond ASCII. `new URL` decides about host and port: `URL.canParse` of Node 20 is wrong for U+0080 to
 * U+00FF once it is optimized.
 */
export function isWebUrl(text: string): boolean {
  const authority = AUTHORITY.exec(text)?.[1];
  if (authority === undefined || FORBIDDEN.test(text)) return false;
  if (codePoints(text.replace(/[!-~]+/g, '')) > MAX_NON_ASCII) return false;
  const hostname = hostnameOf(text);
  if (hostname === undefined) return false;
  // The URL Standard also reads 1.2.3 and 0x7f.1 as addresses, which other readers take for names.
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
