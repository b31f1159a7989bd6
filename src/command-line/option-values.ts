import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, MINUTE, SECOND } from '../common/clock.js';
import { codePoints, hasControlCharacter, isBlank, isWellFormed } from '../common/text.js';

/** Readers of what an operator types. Each throws what commander reports as a wrong use of the command. */

const LARGEST_COUNT = 2_147_483_647;
const LONGEST_URL = 2048;
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** One line of 1 to `longest` characters, without the spaces around it. */
export function textUpTo(longest: number): (typed: string) => string {
  return (typed) => {
    const text = typed.trim();
    if (isBlank(text) || codePoints(text) > longest)
      throw new InvalidArgumentError(`It must be 1 to ${longest} characters.`);
    if (hasControlCharacter(text) || /[\t\r\n]/.test(text) || !isWellFormed(text))
      throw new InvalidArgumentError('It must be one line without control characters.');
    return text;
  };
}

/** A decimal number from `least` to `most`. */
export function numberBetween(least: number, most: number): (typed: string) => number {
  return (typed) => {
    const value = /^[+-]?\d+(\.\d+)?$/.test(typed) ? Number(typed) : NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
    return value;
  };
}

/** An absolute http or https URL. */
export function webUrl(typed: string): string {
  if (!/^https?:\/\//i.test(typed) || !URL.canParse(typed) || /\s/.test(typed))
    throw new InvalidArgumentError('It must be a URL with http or https.');
  if (typed.length > LONGEST_URL)
    throw new InvalidArgumentError(`It must be at most ${LONGEST_URL} characters.`);
  return typed;
}

/** A length of time in milliseconds, such as `90s`, `30m`, `24h`, `7d` or `0`; 90 days at most. */
export function duration(typed: string): number {
  if (typed === '0') return 0;
  const [, count = '', unit = ''] = /^(\d{1,8})([smhd])$/.exec(typed) ?? [];
  const milliseconds = Number(count) * (UNITS[unit] ?? NaN);
  if (!(milliseconds <= 90 * DAY))
    throw new InvalidArgumentError('It must be 0, or a time such as 30m, 24h or 7d, up to 90d.');
  return milliseconds;
}

/**
 * A monthly limit: a whole number, `unlimited` (null), or `default`, which is a plan. Wrapped, because commander makes an
 * empty text of a null.
 */
export function monthlyLimit(typed: string): { limit: number | null } | { plan: string } {
  if (typed === 'default') return { plan: typed };
  if (typed === 'unlimited') return { limit: null };
  const limit = /^\d{1,10}$/.test(typed) ? Number(typed) : NaN;
  if (!(limit <= LARGEST_COUNT))
    throw new InvalidArgumentError('It must be a whole number, "unlimited" or "default".');
  return { limit };
}

/** Collects an option that may be given several times. */
export function collect(typed: string, before: readonly string[] = []): string[] {
  return [...before, typed];
}
