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

/** Digits and separators, without `+`. */
const WITHOUT_PLUS = /^[\d\s()./-]+$/;

/**
 * Converts a phone number to E.164. Returns undefined if it is invalid. A number without `+` is parsed as dialled in
 * `defaultCountry` (ISO 3166-1 alpha-2): national, or with an international prefix such as 00 or 011. Parsing the result again returns
 * the same number, because a stored number is parsed again at each sign-in.
 */
export function parsePhone(typed: string, defaultCountry?: string): string | undefined {
  const text = plainNumber(typed);
  const country = defaultCountry as CountryCode | undefined;
  const dialled = parseStable(text, country);
  const number = (country && parseWithoutPlus(text, country, dialled)) ?? dialled;
  return number?.isPossible() && E164.test(number.number) ? number.number : undefined;
}

function parse(text: string, defaultCountry?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { defaultCountry, extract: false });
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
 * The number if its digits begin with the calling code of the country and only lack the `+`. The library reads `49 171 …` as a fixed
 * line of Germany, area code 491. If both readings are valid, only the national one may be that of a mobile phone, which receives text
 * messages.
 */
function parseWithoutPlus(
  text: string,
  country: CountryCode,
  dialled: PhoneNumber | undefined,
): PhoneNumber | undefined {
  if (!WITHOUT_PLUS.test(text)) return undefined;
  const digits = text.replaceAll(/\D/g, '');
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
