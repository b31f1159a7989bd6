/**
 * What `src/platform/text.ts` and the rules of fields demand of a text, for the published document: ECMA 262 with the u flag.
 * A text is a run of characters that are allowed but invisible, a visible one, and then whatever is allowed, so that a
 * pattern looks at each character once.
 */
const BLANK_LETTERS = '\\u2800\\u3164\\u115F\\u1160\\uFFA0';
const VISIBLE = `[^\\p{Z}\\p{Cc}\\p{Cf}\\p{Cs}${BLANK_LETTERS}]`;

/** Not blank, well-formed, without control characters other than tab, line feed and carriage return. */
export const TEXT_PATTERN =
  `^[\\t\\n\\r\\u0080-\\u009F\\p{Z}\\p{Cf}${BLANK_LETTERS}]*${VISIBLE}` +
  '[^\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F\\p{Cs}]*$';

/** The same on one line, without tabs. */
export const LINE_PATTERN =
  `^[\\u0080-\\u0084\\u0086-\\u009F\\p{Zs}\\p{Cf}${BLANK_LETTERS}]*${VISIBLE}` +
  '[^\\u0000-\\u001F\\u007F\\u0085\\p{Zl}\\p{Zp}\\p{Cs}]*$';

const GROUP = '[\\dA-Fa-f]{1,4}';
/** Eight groups (RFC 4291 §2.2), or at most seven and the two colons that stand for the rest. */
const IPV6 =
  `\\[(?:${GROUP}(?::${GROUP}){7}|(?!(?::{0,2}${GROUP}(?=[:\\]])){8})` +
  `(?:${GROUP}(?::${GROUP})*)?::(?:${GROUP}(?::${GROUP})*)?)\\]`;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LABEL = '[\\p{L}\\p{M}\\p{Nd}_\\-]+';
/** The last label is no number: such a name would be read as an address of version 4 (URL Standard, "ends in a number"). */
const NAME = `(?:${LABEL}\\.)*(?!(?:\\d+|0[Xx][\\dA-Fa-f]*)\\.?(?:[:/?#]|$))${LABEL}\\.?`;
const PORT = '(?:\\d{0,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';

/**
 * An absolute http or https address without user name, password, spaces or backslashes, whose host may be international. At
 * most 1,000 characters are beyond ASCII, so that ten of 2,048 characters fit their column, at four bytes each.
 */
export const WEB_URL_PATTERN =
  '^(?=[!-~]*(?:[^!-~][!-~]*){0,1000}$)' +
  `[Hh][Tt][Tt][Pp][Ss]?://(?:${OCTET}(?:\\.${OCTET}){3}|${NAME}|${IPV6})(?::${PORT})?` +
  '(?:[/?#][^\\s\\u0000-\\u001F\\u007F\\p{Cs}\\\\]*)?$';
