import { isLoopback } from '../../../platform/config/loopback.js';

/** A scheme and a host, perhaps with a port. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/[^/?#@\s,]+$/;
/** The host of a web view or browser extension. Some extensions have capital letters. */
const OPAQUE_HOST = /^[^/]+:\/\/[\w.-]+(?::\d{1,5})?$/;
/** Schemes whose pages have no origin of their own (HTML standard, "origin"), and those that load no page. */
const WITHOUT_ORIGIN = /^(?:about|blob|data|filesystem|ftp|javascript|wss?)$/;
const MAX_LENGTH = 300;

/**
 * Why the origin of a browser app, web view or extension cannot be registered (RFC 6454 §6.1). Undefined if it is valid. `Origin: null`
 * is not: the pages of all sites can send it.
 */
export function originProblem(origin: string): string | undefined {
  if (origin === 'null' || /^file:/i.test(origin))
    return 'cannot be registered: local files and sandboxed pages of every site send null. Load the app by https, or by a scheme of its own such as capacitor://localhost';
  if (origin.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (origin.includes('*')) return 'must not contain a wildcard; register each origin in full';
  const [, scheme] = ORIGIN.exec(origin) ?? [];
  if (scheme === undefined)
    return 'must be a scheme in lower case, :// and a host, such as https://app.example or capacitor://localhost, without a path';
  if (WITHOUT_ORIGIN.test(scheme)) return `must have another scheme than ${scheme}:`;
  if (!/^https?$/.test(scheme))
    return OPAQUE_HOST.test(origin)
      ? undefined
      : 'must have a host of ASCII letters, digits, dots and hyphens';
  if (!URL.canParse(origin)) return 'must have a valid host';
  const url = new URL(origin);
  if (url.origin !== origin) return `must be as browsers send it: ${url.origin}`;
  return scheme === 'https' || isLoopback(url.hostname)
    ? undefined
    : 'must use https, or http with a loopback address or a name under localhost';
}
