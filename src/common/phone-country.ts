import { parsePhoneNumberFromString } from 'libphonenumber-js';

/**
 * The two-letter country of an E.164 number, or undefined when it belongs to none: satellite and toll-free networks, or an
 * area that nobody has in a numbering plan of several countries, such as +1.
 */
export function countryOf(phone: string): string | undefined {
  return parsePhoneNumberFromString(phone)?.country;
}
