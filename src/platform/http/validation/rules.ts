import { ValidateBy } from 'class-validator';
import type { FieldErrorCode } from '../../errors.js';
import { codePoints, hasControlCharacter, isBlank, isWellFormed } from '../../text.js';
import { isWebUrl } from './web-url.js';

/**
 * Validation rules by their error code. A field lists its rules in order; the first violation is reported.
 * Messages say what is wanted and start with the field's name.
 */
export function rule(
  code: FieldErrorCode,
  holds: (value: never) => boolean,
  wanted: string,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: (value: unknown) => holds(value as never),
      defaultMessage: (failed) => `${failed?.property} ${wanted}.`,
    },
  });
}

/** A rule for a text, or for each text of a list, of which the message names the first that breaks it. */
function textRule(
  code: FieldErrorCode,
  holds: (text: string) => boolean,
  wanted: string,
): PropertyDecorator {
  return ValidateBy({
    name: code,
    validator: {
      validate: (value: string | string[]) => [value].flat().every(holds),
      defaultMessage: (failed) => {
        const { property, value } = failed as { property: string; value: string | string[] };
        const place = Array.isArray(value) ? `[${value.findIndex((item) => !holds(item))}]` : '';
        return `${property}${place} ${wanted}.`;
      },
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
  textRule(
    'not_well_formed',
    isWellFormed,
    'must be well-formed Unicode, without half surrogate pairs',
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

export const atMostCodePoints = (most: number): PropertyDecorator =>
  textRule('too_long', (text) => codePoints(text) <= most, `must be at most ${most} characters`);

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
  textRule(
    'invalid_format',
    isWebUrl,
    'must be an absolute http or https URL without user name, password or spaces, of at most 1000 characters beyond ASCII',
  );
