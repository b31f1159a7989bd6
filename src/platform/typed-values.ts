import { codePoints, isBlank } from './text.js';

const MAX_URL_LENGTH = 2048;

/** An operator's value is invalid. The message is a sentence that begins with "It must". */
export class InvalidValue extends Error {}

/** One line of 1 to `maxLength` characters, trimmed. */
export function textUpTo(maxLength: number): (typed: string) => string {
  return (typed) => {
    const text = typed.trim();
    if (isBlank(text) || codePoints(text) > maxLength)
      throw new InvalidValue(`It must be 1 to ${maxLength} characters.`);
    if (/[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed())
      throw new InvalidValue('It must be one line without control characters.');
    return text;
  };
}

/** A decimal number from `min` to `max`, optionally with an exponent. */
export function numberBetween(min: number, max: number): (typed: string) => number {
  return (typed) => {
    const value = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN;
    if (!(value >= min && value <= max))
      throw new InvalidValue(`It must be a number from ${min} to ${max}.`);
    return value;
  };
}

/** An absolute http or https URL. */
export function webUrl(typed: string): string {
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed) || /\s/.test(typed))
    throw new InvalidValue('It must be a URL with http or https.');
  if (typed.length > MAX_URL_LENGTH)
    throw new InvalidValue(`It must be at most ${MAX_URL_LENGTH} characters.`);
  return typed;
}
