import { codePointName, codePoints, isBlank } from './text.js';

const MAX_URL_LENGTH = 2048;

/** An operator's value is invalid. The message is a sentence, which begins with "It must" if a parser of this file throws it. */
export class InvalidValue extends Error {}

/** One line of 1 to `maxLength` characters, trimmed. */
export function textUpTo(maxLength: number): (input: string) => string {
  return (input) => {
    const text = input.trim();
    if (isBlank(text) || codePoints(text) > maxLength)
      throw new InvalidValue(`It must be 1 to ${maxLength} characters.`);
    const [control] = /[\p{Cc}\p{Cs}\u2028\u2029]/u.exec(text) ?? [];
    if (control !== undefined)
      throw new InvalidValue(
        `It must be one line without control characters, but contains ${codePointName(control)}.`,
      );
    return text;
  };
}

/** A decimal number from `min` to `max`, optionally with an exponent. */
export function numberBetween(min: number, max: number): (input: string) => number {
  return (input) => {
    const value = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(input) ? Number(input) : NaN;
    if (!(value >= min && value <= max))
      throw new InvalidValue(`It must be a number from ${min} to ${max}.`);
    return value;
  };
}

/** An absolute http or https URL. */
export function webUrl(input: string): string {
  if (!/^https?:\/\//i.test(input) || !URL.canParse(input) || /\s/.test(input))
    throw new InvalidValue('It must be a URL with http or https.');
  if (input.length > MAX_URL_LENGTH)
    throw new InvalidValue(`It must be at most ${MAX_URL_LENGTH} characters.`);
  return input;
}
