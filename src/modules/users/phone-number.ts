import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
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
