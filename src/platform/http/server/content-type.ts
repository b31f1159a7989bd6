import { parse } from 'content-type';

/** Names of UTF-8 and of ASCII, its subset. An empty name counts as absent. */
const UTF_8 = /^(?:utf-?8|(?:us-)?ascii)?$/i;

/**
 * Checks that a body has this media type, in lower case, and is UTF-8. Other parameters than `charset` are ignored
 * (RFC 2045 §1); the first of a repeated parameter counts. Without a charset, the body is UTF-8.
 * @returns what is wrong: the media type, or else the charset; null if nothing is
 */
export function contentTypeProblem(
  header: string | undefined,
  mediaType: string,
): 'mediaType' | 'charset' | null {
  const { type, parameters } = parse(header ?? '');
  if (type !== mediaType) return 'mediaType';
  return UTF_8.test(parameters['charset'] ?? '') ? null : 'charset';
}
