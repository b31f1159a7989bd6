import { InvalidArgumentError } from 'commander';
import { DAY, floorTo, HOUR, addMilliseconds, MINUTE, SECOND } from '../platform/clock.js';
import { TEST_CODE } from '../modules/users/test-members.js';
import { type IdPrefix, isId } from '../platform/ids.js';
import { logoProblem, readLogoFile } from '../platform/logo-file.js';
import { InvalidValue, textUpTo as parseText } from '../platform/operator-input.js';

/* Parsers of command-line options and arguments. Commander reports their errors as usage errors. */

const MAX_COUNT = 2_147_483_647;
const MAX_AGE_MS = 3650 * DAY;
const TIME =
  /^(\d{4}-\d{2}-\d{2})([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;
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

/** Returns a parser of one line of 1 to `maxLength` characters. The parser trims the line. */
export function textUpTo(maxLength: number): (text: string) => string {
  return optionParser(parseText(maxLength));
}

/** Accepts the fixed code of a test member. */
export function parseTestCode(input: string): string {
  if (!TEST_CODE.test(input)) throw new InvalidArgumentError('It must be six digits.');
  return input;
}

/** Accepts a calendar month such as `2026-11`. */
export function parseMonth(input: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(input))
    throw new InvalidArgumentError('It must be a month such as 2026-11.');
  return input;
}

/** Parses a duration of at most 90 days, such as `90s`, `30m`, `24h`, `7d` or `0`. Returns milliseconds. */
export function parseDuration(input: string): number {
  if (input === '0') return 0;
  const milliseconds = durationOf(input);
  if (!(milliseconds <= 90 * DAY))
    throw new InvalidArgumentError(
      'It must be 0 or a duration such as 30m, 24h or 7d, at most 90d.',
    );
  return milliseconds;
}

/** What `parseTime` accepts, for the help of an option. */
export const TIME_FORMATS =
  'an age such as 24h or 30d, today, yesterday, 2026-11-20, or 2026-11-20T09:30+01:00; UTC without a zone';

/** A point in time. A function of the current time, because an age is relative to it. */
export type TimeOption = (now: Date) => Date;

/**
 * Parses a point in time, the only parser of all commands: an age (`24h`), `today` and `yesterday`, a UTC day (`2026-11-20`), each of
 * which means its start, or a time with or without a zone (`2026-11-20T09:30+01:00`, UTC without).
 */
export function parseTime(input: string): TimeOption {
  const ageMs = durationOf(input);
  if (ageMs <= MAX_AGE_MS) return (now) => addMilliseconds(now, -ageMs);
  const daysAgo = ['today', 'yesterday'].indexOf(input.toLowerCase());
  if (daysAgo >= 0) return (now) => addMilliseconds(floorTo(now, DAY), -daysAgo * DAY);
  const at = timeOf(input);
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError(`It must be ${TIME_FORMATS}.`);
  return () => at;
}

/** An invalid date if the text is neither a day nor a time. */
function timeOf(input: string): Date {
  const [, day = '', time = '', , , , zone] = TIME.exec(input) ?? [];
  // Date parses 2026-02-30 as a day in March.
  const start = new Date(`${day}T00:00Z`).toJSON() ?? '';
  if (day === '' || !start.startsWith(day)) return new Date(NaN);
  return new Date(zone === undefined && time !== '' ? `${input}Z` : input);
}

/** Parses a status such as `429`, or a class such as `4xx`. Returns the lowest and the highest status. */
export function parseStatus(input: string): readonly [number, number] {
  const [, first = '', rest = ''] = /^([1-5])(\d\d|xx)$/i.exec(input) ?? [];
  if (first === '') throw new InvalidArgumentError('It must be a status such as 429 or 4xx.');
  const status = Number(`${first}${rest}`);
  return Number.isNaN(status) ? [Number(first) * 100, Number(first) * 100 + 99] : [status, status];
}

/** Returns a parser of a whole number from 1 to `max`. */
export function countUpTo(max: number): (input: string) => number {
  return (input) => {
    const count = wholeNumberOf(input);
    if (!(count >= 1 && count <= max))
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return count;
  };
}

/** Parses a whole number from 1, or `all`, for which it returns `Infinity`. */
export function parseCountOrAll(input: string): number {
  if (input === 'all') return Infinity;
  const count = wholeNumberOf(input);
  if (!(count >= 1 && count <= MAX_COUNT))
    throw new InvalidArgumentError('It must be a whole number from 1, or "all".');
  return count;
}

/** Returns a parser of an id. @param kind completes the error message "It must be" */
function idOf(prefix: IdPrefix, kind: string): (input: string) => string {
  return (input) => {
    if (!isId(prefix, input)) throw new InvalidArgumentError(`It must be ${kind}`);
    return input;
  };
}

export const parseClientId = idOf(
  'svc_app',
  'a client_id such as svc_app_…. Run "app list" to find it.',
);
export const parseRequestId = idOf(
  'req',
  'a request id such as req_…, which the service sends as X-Request-Id. The access log has ids that clients choose, as client_request_id.',
);
export const parseCallId = idOf('call', 'the id of a call such as call_….');
export const parsePostId = idOf('post', 'the id of a post such as post_….');
export const parseCommentId = idOf('cmt', 'the id of a comment such as cmt_….');
export const parseUserId = idOf('usr', 'a user id such as usr_….');
export const parseGrantId = idOf(
  'grt',
  'a grant id such as grt_…. Run "grant list --user" or "grant list --app" to find it.',
);

/** A number of at most ten digits; NaN if the text is none. */
function wholeNumberOf(input: string): number {
  return /^\d{1,10}$/.test(input) ? Number(input) : NaN;
}

/** Milliseconds of a duration such as `90s`; NaN if the text is not a whole number with a unit. */
function durationOf(input: string): number {
  const [, count = '', unit = ''] = /^(\d{1,8})([smhd])$/.exec(input) ?? [];
  return Number(count) * (UNITS[unit] ?? NaN);
}

/**
 * Parses a whole number, `unlimited` (a limit of null) or `default` (the plan of that name). Returns an object, because commander
 * replaces null with an empty string.
 */
export function parseMonthlyLimit(input: string): { limit: number | null } | { plan: string } {
  if (input === 'default') return { plan: input };
  if (input === 'unlimited') return { limit: null };
  const limit = wholeNumberOf(input);
  if (!(limit <= MAX_COUNT))
    throw new InvalidArgumentError('It must be a whole number, "unlimited" or "default".');
  return { limit };
}

/** Reads a PNG, JPEG or WebP file of at most 262,144 bytes and 1024 × 1024 pixels. Its bytes decide, not its name. */
export function parseLogo(path: string): Buffer {
  let logo: Buffer;
  try {
    logo = readLogoFile(path);
  } catch (error) {
    throw new InvalidArgumentError(`The file ${(error as Error).message}.`);
  }
  const problem = logoProblem(logo);
  if (problem !== undefined) throw new InvalidArgumentError(`The file ${problem}.`);
  return logo;
}

/** Collects the values of a repeated option. */
export function collect(input: string, previous: readonly string[] | false = []): string[] {
  return [...(previous || []), input];
}
