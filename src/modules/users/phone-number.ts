import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type PhoneNumber,
} from 'libphonenumber-js/max';
import { plainNumber } from '../../platform/text.js';

/** At most 15 digits (ITU-T E.164, section 6). The library accepts more digits for some countries. */
const E164 = /^\+[1-9]\d{1,14}$/;

/** Characters. The library accepts no longer texts. */
const MAX_TYPED_LENGTH = 250;

/** Brackets and quotes of any script, except those of `(0)`, and characters that some programs put between the digits. */
const BRACKETS_AND_QUOTES = /(?!\(0\))(?<!\(0)[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>'"`·•_]/gu;

/** The start of a link to a chat of WhatsApp, such as `https://wa.me/`, which has the number without `+`. */
const CHAT_LINK = /\S*(?:\bwa\.me\/|\bwhatsapp\S*[?&]phone=)(?:\+|%2b)?(?=\d)/iu;

/** What surrounds a number that was copied: quotes, a label before or after it, or a URI scheme (RFC 3966). Not an extension. */
const SURROUNDINGS = /^[^\d+]+|(?!\W*(?:x|ext\w*)\W*$)[^\d#]+$/giu;

/** Parameters of a link with the whole number, such as `;phone-context=+1` (RFC 3966) or `?text=Hi`. */
const PARAMETERS = /^(\+[^;?&]*)[;?&][\w-]+=.*$/u;

/** The `xx` in `(0xx11)`, for the digits of a carrier in Brazil. */
const CARRIER = /(?<=^(?:\+55)?\s*)0xx\s*/iu;

/** A trunk prefix after the calling code, as in `+48 (0) 532 …`. */
const TRUNK_PREFIX = /^((?:\+|00\s?)\d{1,3}[\s./-]*)\(0\)/u;

/** `++44`, `+ 44` and `+0044`: no calling code begins with 0. */
const PLUS = /^\+[\s+]*(?:00)?\s*/;

/** Digits and separators, without `+`. */
const WITHOUT_PLUS = /^[\d\s()./-]+$/;

/** Numbers as they were before a change of the numbering plan, and as WhatsApp and habit still write them: Mexico 2019, Benin 2024. */
const FORMER_NUMBERS: readonly (readonly [RegExp, string])[] = [
  [/^\+52(?:1|01|04[45])(?=\d{10}$)/, '+52'],
  [/^\+229(?=\d{8}$)/, '+22901'],
];

/**
 * Why a text message may not arrive. `unknown`: the length is right, but no number range that the library knows contains the number; the
 * range may be newer than the library. `fixed_line`: not a mobile phone.
 */
export type PhoneWarning = 'unknown' | 'fixed_line';

/**
 * Converts a phone number to E.164. Returns undefined if it is invalid. A number without `+` is parsed as dialled in
 * `defaultCountry` (ISO 3166-1 alpha-2): national, or with an international prefix such as 00 or 011. Parsing the result again returns
 * the same number, because a stored number is parsed again at each sign-in.
 */
export function parsePhone(typed: string, defaultCountry?: string): string | undefined {
  return parsePossible(typed, defaultCountry)?.number;
}

/** Like `parsePhone`, with a warning if a text message may not arrive. */
export function parsePhoneWithWarning(
  typed: string,
  defaultCountry?: string,
): { phone: string; warning?: PhoneWarning } | undefined {
  const number = parsePossible(typed, defaultCountry);
  if (!number) return undefined;
  const type = number.getType();
  if (type === undefined) return { phone: number.number, warning: 'unknown' };
  return { phone: number.number, ...(type === 'FIXED_LINE' && { warning: 'fixed_line' }) };
}

function parsePossible(typed: string, defaultCountry?: string): PhoneNumber | undefined {
  const text = plainPhone(typed);
  const country = defaultCountry as CountryCode | undefined;
  const dialled = parseDialled(text, country);
  const number = (country && parseWithoutPlus(text, country, dialled)) ?? dialled;
  return number?.isPossible() && E164.test(number.number) ? number : undefined;
}

/** The number without what people paste along with it. */
function plainPhone(typed: string): string {
  if (typed.length > MAX_TYPED_LENGTH) return '';
  return plainNumber(typed)
    .replace(CHAT_LINK, '+')
    .replaceAll(BRACKETS_AND_QUOTES, ' ')
    .replaceAll(SURROUNDINGS, '')
    .replace(PLUS, '+')
    .replace(PARAMETERS, '$1')
    .replace(CARRIER, '');
}

function parse(text: string, defaultCountry?: CountryCode): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  if (!number || number.isPossible()) return number;
  const former = FORMER_NUMBERS.find(([pattern]) => pattern.test(number.number));
  return former ? parsePhoneNumberFromString(number.number.replace(...former)) : number;
}

/** The number; without `(0)`, if only that is valid, as in countries without a trunk prefix. In Italy, fixed lines keep the 0. */
function parseDialled(text: string, country?: CountryCode): PhoneNumber | undefined {
  const number = parseStable(text, country);
  if (number?.isValid() || !TRUNK_PREFIX.test(text)) return number;
  const withoutPrefix = parseStable(text.replace(TRUNK_PREFIX, '$1'), country);
  return withoutPrefix?.isValid() ? withoutPrefix : number;
}

/**
 * The library keeps a trunk prefix after the calling code, as in `+49 (0) 0171 …`, and removes it when it parses the result. Returns the
 * valid number then, and undefined for a number that would not be parsed to itself.
 */
function parseStable(text: string, country?: CountryCode): PhoneNumber | undefined {
  const number = parse(text, country);
  const again = number && parse(number.number);
  // Not `number`: whether it is possible may depend on the country in which it was dialled.
  if (again?.number === number?.number) return again;
  const isMeant = again?.isValid() === true && number?.isValid() === false;
  return isMeant && parse(again.number)?.number === again.number ? again : undefined;
}

/**
 * The number if its digits begin with the calling code of the country, perhaps after 00, and only lack the `+`. The library reads
 * `49 171 …` as a fixed line of Germany, area code 491, and `0055 51 …` in Brazil, where 55 is also a carrier, as a number of Peru. If
 * both readings are valid, only the national one may be that of a mobile phone, which receives text messages.
 */
function parseWithoutPlus(
  text: string,
  country: CountryCode,
  dialled: PhoneNumber | undefined,
): PhoneNumber | undefined {
  if (!WITHOUT_PLUS.test(text)) return undefined;
  const digits = text.replaceAll(/\D/g, '').replace(/^00/, '');
  if (!digits.startsWith(getCountryCallingCode(country))) return undefined;
  const number = parseStable(`+${digits}`);
  const isMeant = number?.isValid() && (isMobile(number) || !isMobile(dialled));
  return isMeant ? number : undefined;
}

function isMobile(number: PhoneNumber | undefined): boolean {
  const type = number?.getType();
  return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
}

/** The number in groups of digits, such as `+1 415 555 0100`, with no-break spaces. */
export function formatPhone(phone: string): string {
  const formatted = parsePhoneNumberFromString(phone)?.formatInternational() ?? phone;
  return formatted.replaceAll(' ', '\u00a0');
}

/** Masks all but the country code and the last two digits: `+1 ••• ••01`. */
export function maskPhone(phone: string): string {
  return `+${callingCodeOf(phone)} ••• ••${phone.slice(-2)}`;
}

/**
 * The ISO 3166-1 alpha-2 country of an E.164 number. If the library does not know it, as for a new area code of +1, the main country of
 * its calling code. Undefined for calling codes without a country, such as those of satellite networks.
 */
export function countryOf(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone);
  // The main country is the first one.
  return number?.country ?? number?.getPossibleCountries()[0];
}

/** The calling code of an E.164 number, without the `+`. */
export function callingCodeOf(phone: string): string {
  return parsePhoneNumberFromString(phone)?.countryCallingCode ?? '';
}

/** Returns an ISO 3166-1 alpha-2 country with a calling code; undefined for anything else. */
export function parseCountry(code = ''): string | undefined {
  return isSupportedCountry(code) ? code : undefined;
}

/** The countries with a calling code (ISO 3166-1 alpha-2; without the `+`), by default all. */
export function callingCodes(
  countries: readonly string[] = getCountries(),
): { code: string; callingCode: string }[] {
  return countries
    .filter((code) => isSupportedCountry(code))
    .map((code) => ({ code, callingCode: getCountryCallingCode(code) }));
}
