import { ValidateBy } from 'class-validator';
import type { FieldErrorCode } from '../common/errors.js';
import { codePoints, hasControlCharacter, isBlank, isWellFormed } from '../common/text.js';

/**
 * Validation rules by the code that they answer with. A field lists its rules in order; the first that is broken is reported.
 * Messages say what is wanted and start with the field's name.
 */
type Wanted = string | ((value: unknown) => string);

export function rule(
  code: FieldErrorCode,
  holds: (value: never) => boolean,
  wanted: Wanted,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: (value: unknown) => holds(value as never),
      defaultMessage: (failed) =>
        `${failed?.property} ${typeof wanted === 'string' ? wanted : wanted(failed?.value)}.`,
    },
  });
}

export const required = (): PropertyDecorator =>
  rule('required', (value: unknown) => value !== undefined && value !== null, 'is required');

export const isText = (): PropertyDecorator =>
  rule('wrong_type', (value: unknown) => typeof value === 'string', 'must be a string');

export const isNumber = (): PropertyDecorator =>
  rule('wrong_type', (value: unknown) => typeof value === 'number', 'must be a number');

/** Of query parameters, which are numbers only where they were written as whole ones. */
export const isWholeNumber = (): PropertyDecorator =>
  rule('wrong_type', (value: unknown) => typeof value === 'number', 'must be a whole number');

export const isListOfText = (): PropertyDecorator =>
  rule(
    'wrong_type',
    (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    'must be an array of strings',
  );

export const wellFormed = (): PropertyDecorator =>
  rule(
    'not_well_formed',
    (value: string | string[]) => [value].flat().every(isWellFormed),
    'must be well-formed Unicode, without half surrogate pairs',
  );

export const withoutControlCharacters = (): PropertyDecorator =>
  rule(
    'control_character',
    (value: string | string[]) => ![value].flat().some(hasControlCharacter),
    'must not contain control characters',
  );

export const onOneLine = (): PropertyDecorator =>
  rule(
    'control_character',
    (value: string | string[]) =>
      [value].flat().every((item) => !/[\t\r\n\u0085\u2028\u2029]/.test(item)),
    'must be on one line, without tabs',
  );

export const notBlank = (): PropertyDecorator =>
  rule('blank', (value: string | string[]) => ![value].flat().some(isBlank), 'must not be blank');

export const atMostCodePoints = (most: number): PropertyDecorator =>
  rule(
    'too_long',
    (value: string | string[]) => [value].flat().every((item) => codePoints(item) <= most),
    (value) =>
      Array.isArray(value)
        ? `must hold strings of at most ${most} characters`
        : `must be at most ${most} characters`,
  );

export const atMostBytes = (most: number): PropertyDecorator =>
  rule(
    'too_long',
    (value: string[]) => value.every((item) => Buffer.byteLength(item) <= most),
    `must hold URLs of at most ${most} bytes`,
  );

export const atMostItems = (most: number): PropertyDecorator =>
  rule('too_many', (value: unknown[]) => value.length <= most, `must have at most ${most} items`);

export const atLeast = (least: number): PropertyDecorator =>
  rule('too_small', (value: number) => value >= least, `must be at least ${least}`);

export const atMost = (most: number): PropertyDecorator =>
  rule('too_large', (value: number) => value <= most, `must be at most ${most}`);

export const oneOf = (allowed: readonly string[]): PropertyDecorator =>
  rule(
    'not_allowed_value',
    (value: string) => allowed.includes(value),
    `must be one of: ${allowed.join(', ')}`,
  );

export const matching = (pattern: RegExp, wanted: string): PropertyDecorator =>
  rule('invalid_format', (value: string) => pattern.test(value), wanted);

export const webUrls = (): PropertyDecorator =>
  rule(
    'invalid_format',
    (value: string[]) => value.every(isWebUrl),
    'must hold absolute http or https URLs without user name, password or spaces',
  );

function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i.test(value) && URL.canParse(value);
}
