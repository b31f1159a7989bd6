/**
 * Whether the text is an absolute URL. Not `URL.canParse`: once Node 20 and 22 have optimized it, after some thousand calls, it
 * is wrong about characters from U+0080 to U+00FF.
 */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}
