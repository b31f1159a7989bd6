import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js';
import { plainNumber } from '../../platform/text.js';

/** At most 15 digits (ITU-T E.164, section 6). The library accepts more digits for some countries. */
const E164 = /^\+[1-9]\d{1,14}$/;

/**
 * Converts a phone number to E.164. Returns undefined if it is invalid. A number without `+` is parsed as dialled in
 * `defaultCountry` (ISO 3166-1 alpha-2): national, or with an international prefix such as 00 or 011.
 */
export function parsePhone(typed: string, defaultCountry?: string): string | undefined {
  const number = parsePhoneNumberFromString(plainNumber(typed), {
    defaultCountry: defaultCountry as CountryCode | undefined,
    extract: false,
  });
  return number?.isPossible() && E164.test(number.number) ? number.number : undefined;
}

/** The number in groups of digits, such as `+1 415 555 0100`, with no-break spaces. */
export function formatPhone(phone: string): string {
  const formatted = parsePhoneNumberFromString(phone)?.formatInternational() ?? phone;
  return formatted.replaceAll(' ', '\u00a0');
}

/** Masks all but the country code and the last two digits: `+1 ••• ••01`. */
export function maskPhone(phone: string): string {
  const callingCode = parsePhoneNumberFromString(phone)?.countryCallingCode ?? '';
  return `+${callingCode} ••• ••${phone.slice(-2)}`;
}

/**
 * The ISO 3166-1 alpha-2 country of an E.164 number. Undefined for satellite and toll-free numbers, and for unassigned area codes
 * of a numbering plan that countries share, such as +1.
 */
export function countryOf(phone: string): string | undefined {
  return parsePhoneNumberFromString(phone)?.country;
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
