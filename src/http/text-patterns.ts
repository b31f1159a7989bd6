/**
 * What `src/common/text.ts` and the rules of fields demand of a text, for the published document: ECMA 262 with the u flag.
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

/** An absolute http or https address without user name, password, spaces or backslashes. */
export const WEB_URL_PATTERN =
  '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\u0000-\\u001F\\u007F\\p{Cs}\\\\/?#@]+' +
  '([/?#][^\\s\\u0000-\\u001F\\u007F\\p{Cs}\\\\]*)?$';
