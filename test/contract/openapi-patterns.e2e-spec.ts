import { publishedDocument } from '../support/published-document.js';

/** Characters of a class: literals, ranges, and escapes of two digits. */
const MEMBER = String.raw`(?:[^\\\][^]|\\[\\\][^-]|\\x[0-7][0-9A-F])`;
const CLASS = String.raw`\[\^?${MEMBER}+\]`;
const LITERAL = String.raw`(?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|]|\\x[0-7][0-9A-F])`;
/** RE2 refuses bounds above 1000. */
const QUANTIFIER = String.raw`(?:[*+?]|\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\})`;
const ATOM = `(?:${CLASS}|${LITERAL}|[\\^$])`;
const ALTERNATIVES = `(?:(?:${ATOM}${QUANTIFIER}?)+\\|)*(?:${ATOM}${QUANTIFIER}?)+`;
const INNERMOST_GROUP = new RegExp(`(?<!\\\\)\\((?:\\?:)?${ALTERNATIVES}\\)`, 'gu');
const WHOLE = new RegExp(`^${ALTERNATIVES}$`, 'u');
/** Set operations in classes of Rust and of the `v` flag of ECMAScript, and Python's warning of them. */
const SET_OPERATION = /&&|--|~~|\|\|/;

/**
 * Whether a pattern has only literals in ASCII, classes, anchors, quantifiers, groups and alternatives. ECMAScript with the `u` flag,
 * Python's `re`, RE2 (Go) and Rust's `regex` read these alike, unlike `\d`, `\s`, `\w`, `\b` and `.`.
 */
function isPortable(pattern: string): boolean {
  if (!/^[ -~]*$/.test(pattern) || SET_OPERATION.test(pattern)) return false;
  let simplified = pattern;
  for (let before = ''; before !== simplified;) {
    before = simplified;
    simplified = simplified.replaceAll(INNERMOST_GROUP, 'x');
  }
  return WHOLE.test(simplified) && isRegExp(pattern);
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

/** The distinct patterns of the document, those of property names included. */
function patternsOf(document: unknown): string[] {
  const patterns = new Set<string>();
  JSON.stringify(document, (name, value: unknown) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value);
    if (name === 'patternProperties')
      for (const key of Object.keys(value as object)) patterns.add(key);
    return value;
  });
  return [...patterns];
}

const isTime = (schema: unknown): boolean =>
  (schema as { format?: unknown } | null)?.format === 'date-time';

describe('Patterns of the OpenAPI document', () => {
  it.each([
    '^post_[0-7][0-9a-hjkmnp-tv-z]{25}$',
    '^a$|^b$',
    '^(?:W/)?"[^"]*"$',
    '^ *((?:a|(b|c)( +(b|c))*) *)?$',
    String.raw`^[\x20-\x21\x23-\x5B\x5D-\x7E]{1,999}$`,
    String.raw`^\(a\.b\)\\[\]\\-]$`,
  ])('may be %s', (pattern) => {
    expect(isPortable(pattern)).toBe(true);
  });

  it.each([
    String.raw`^\d+$`,
    String.raw`\bx`,
    '^.$',
    '^(?=a)a$',
    '^(?<name>a)$',
    String.raw`^(a)\1$`,
    String.raw`^\p{L}$`,
    String.raw`^\u0041$`,
    String.raw`^a\/b$`,
    '^é$',
    '^a{1001}$',
    '^a{0,1024}$',
    '^a*?$',
    '^(?i)a$',
    '^[a&&b]$',
    '^[]$',
    '^(a$',
    '',
  ])('are never %s', (pattern) => {
    expect(isPortable(pattern)).toBe(false);
  });

  it('compile in ECMAScript, Python, RE2 and Rust and mean the same', () => {
    const patterns = patternsOf(publishedDocument());
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((pattern) => !isPortable(pattern))).toEqual([]);
  });

  it('are not beside the format of a time, which clients in PHP and Ruby parse first', () => {
    JSON.stringify(publishedDocument(), (_name, value: unknown) => {
      if (isTime(value)) expect(value).not.toHaveProperty('pattern');
      return value;
    });
    expect.hasAssertions();
  });
});
