import { ValidateBy } from 'class-validator';
import type { FieldErrorCode } from '../../errors.js';
import { codePoints, hasControlCharacter, isBlank } from '../../text.js';

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

/**
 * A validation rule. A field reports the first rule that it violates.
 * @param requirement the error message without the field name, such as `must be a string`
 */
export function rule(
  code: FieldErrorCode,
  holds: (value: never) => boolean,
  requirement: string,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: (value: unknown) => holds(value as never),
      defaultMessage: (failed) => `${failed?.property} ${requirement}.`,
    },
  });
}

/** A rule for a text, or for each text of a list. The message has the index of the first invalid text. */
function textRule(
  code: FieldErrorCode,
  holds: (text: string) => boolean,
  requirement: string,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: (value: string | string[]) => [value].flat().every(holds),
      defaultMessage: (failed) => {
        const { property, value } = failed as { property: string; value: string | string[] };
        const index = Array.isArray(value) ? `[${value.findIndex((item) => !holds(item))}]` : '';
        return `${property}${index} ${requirement}.`;
      },
    },
  });
}

export const required = (): PropertyDecorator =>
  rule('required', (value: unknown) => value !== undefined && value !== null, 'is required');

export const isText = (): PropertyDecorator =>
  rule('wrong_type', (value: unknown) => typeof value === 'string', 'must be a string');

/** @param kind `whole number` for query parameters, which the query class converts to numbers only if they are whole */
export const isNumber = (kind = 'number'): PropertyDecorator =>
  rule('wrong_type', (value: unknown) => typeof value === 'number', `must be a ${kind}`);

export const isListOfText = (): PropertyDecorator =>
  rule(
    'wrong_type',
    (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    'must be an array of strings',
  );

/** UTF-8 cannot store lone surrogates. */
export const wellFormed = (): PropertyDecorator =>
  textRule(
    'not_well_formed',
    (text) => text.isWellFormed(),
    'must be well-formed Unicode, without lone surrogates',
  );

export const withoutControlCharacters = (): PropertyDecorator =>
  textRule(
    'control_character',
    (text) => !hasControlCharacter(text),
    'must not contain control characters',
  );

export const onOneLine = (): PropertyDecorator =>
  textRule(
    'control_character',
    (text) => !/[\t\r\n\u0085\u2028\u2029]/.test(text),
    'must be on one line, without tabs',
  );

export const notBlank = (): PropertyDecorator =>
  textRule('blank', (text) => !isBlank(text), 'must not be blank');

export const atMostCodePoints = (max: number): PropertyDecorator =>
  textRule('too_long', (text) => codePoints(text) <= max, `must be at most ${max} characters`);

export const atMostItems = (max: number): PropertyDecorator =>
  rule('too_many', (value: unknown[]) => value.length <= max, `must have at most ${max} items`);

export const atLeast = (min: number): PropertyDecorator =>
  rule('too_small', (value: number) => value >= min, `must be at least ${min}`);

export const atMost = (max: number): PropertyDecorator =>
  rule('too_large', (value: number) => value <= max, `must be at most ${max}`);

export const oneOf = (allowed: readonly string[]): PropertyDecorator =>
  rule(
    'not_allowed_value',
    (value: string) => allowed.includes(value),
    `must be one of: ${allowed.join(', ')}`,
  );

export const matching = (pattern: RegExp, requirement: string): PropertyDecorator =>
  rule('invalid_format', (value: string) => pattern.test(value), requirement);

export const webUrls = (): PropertyDecorator =>
  textRule(
    'invalid_format',
    isWebUrl,
    'must be an http:// or https:// URL without user name, password, white space or backslashes, with at most 1000 non-ASCII characters',
  );
