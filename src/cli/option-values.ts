import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, addMilliseconds, MINUTE, SECOND } from '../platform/clock.js';
import { isId } from '../platform/ids.js';
import { InvalidValue, textUpTo as parseText } from '../platform/typed-values.js';

/** Parsers of command-line options and arguments. Commander reports their errors as usage errors. */

const MAX_COUNT = 2_147_483_647;
const MAX_AGO_MS = 3650 * DAY;
const UTC_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/;
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Reports the `InvalidValue` errors of a parser as usage errors. */
export function optionParser<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof InvalidValue) throw new InvalidArgumentError(error.message);
      throw error;
    }
  };
}

/** One trimmed line of 1 to `maxLength` characters. */
export function textUpTo(maxLength: number): (text: string) => string {
  return optionParser(parseText(maxLength));
}

export function oneOf<T extends string>(words: readonly T[]): (typed: string) => T {
  return (typed) => {
    const word = words.find((one) => one === typed);
    if (word === undefined) throw new InvalidArgumentError(`It must be ${words.join(' or ')}.`);
    return word;
  };
}

/** A calendar month such as `2026-11`. */
export function parseMonth(typed: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(typed))
    throw new InvalidArgumentError('It must be a month such as 2026-11.');
  return typed;
}

/** The start of a UTC day such as `2026-11-21`. */
export function parseDay(typed: string): Date {
  const day = new Date(`${typed}T00:00:00.000Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(typed) || !(day.toJSON() ?? '').startsWith(typed))
    throw new InvalidArgumentError('It must be a day such as 2026-11-21.');
  return day;
}

/** A duration in milliseconds, such as `90s`, `30m`, `24h`, `7d` or `0`; at most 90 days. */
export function parseDuration(typed: string): number {
  if (typed === '0') return 0;
  const milliseconds = durationOf(typed);
  if (!(milliseconds <= 90 * DAY))
    throw new InvalidArgumentError(
      'It must be 0 or a duration such as 30m, 24h or 7d, at most 90d.',
    );
  return milliseconds;
}

/**
 * A point in time: relative to `now` (`24h` or `30d` ago), the start of a UTC day (`2026-11-20`), or absolute
 * (`2026-11-20T09:30:00Z`).
 */
export function parseTime(typed: string): (now: Date) => Date {
  const ago = durationOf(typed);
  if (ago <= MAX_AGO_MS) return (now) => addMilliseconds(now, -ago);
  const at = new Date(UTC_TIME.test(typed) ? typed : NaN);
  const [day = ''] = typed.split('T');
  // Date parses 2026-02-30 as a day in March.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(day))
    throw new InvalidArgumentError(
      'It must be an age such as 24h or 30d, a day such as 2026-11-20, or a time such as 2026-11-20T09:30:00Z.',
    );
  return () => at;
}

/** A whole number from 1, or `all`, which is `Infinity`. */
export function parseCountOrAll(typed: string): number {
  if (typed === 'all') return Infinity;
  const count = /^\d{1,10}$/.test(typed) ? Number(typed) : NaN;
  if (!(count >= 1 && count <= MAX_COUNT))
    throw new InvalidArgumentError('It must be a whole number from 1, or "all".');
  return count;
}

export function parseClientId(typed: string): string {
  if (!isId('svc_app', typed))
    throw new InvalidArgumentError(
      'It must be a client_id such as svc_app_…. Run "app list" to find it.',
    );
  return typed;
}

export function parseUserId(typed: string): string {
  if (!isId('usr', typed)) throw new InvalidArgumentError('It must be a user id such as usr_….');
  return typed;
}

/** In milliseconds; NaN if the text is not a number with a unit. */
function durationOf(typed: string): number {
  const [, count = '', unit = ''] = /^(\d{1,8})([smhd])$/.exec(typed) ?? [];
  return Number(count) * (UNITS[unit] ?? NaN);
}

/** A whole number, `unlimited` (null) or `default` (a plan). Returns an object, because commander replaces null with an empty string. */
export function parseMonthlyLimit(typed: string): { limit: number | null } | { plan: string } {
  if (typed === 'default') return { plan: typed };
  if (typed === 'unlimited') return { limit: null };
  const limit = /^\d{1,10}$/.test(typed) ? Number(typed) : NaN;
  if (!(limit <= MAX_COUNT))
    throw new InvalidArgumentError('It must be a whole number, "unlimited" or "default".');
  return { limit };
}

/** Collects the values of a repeated option. */
export function collect(typed: string, before: readonly string[] = []): string[] {
  return [...before, typed];
}
