import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';

/** At most 15 digits (ITU-T E.164, section 6); the library thinks longer ones possible in some countries. */
const E164 = /^\+[1-9]\d{1,14}$/;

/**
 * A typed phone number as E.164, or undefined if it is none. A number without `+` is as people dial it in `defaultCountry`:
 * national, or with the prefix for calls abroad, which is 00 in many countries and 011 in the US.
 */
export function parsePhone(typed: string, defaultCountry?: string): string | undefined {
  const text = typed.normalize('NFKC').trim();
  const number = parsePhoneNumberFromString(text, {
    defaultCountry: defaultCountry as CountryCode | undefined,
    extract: false,
  });
  return number?.isPossible() && E164.test(number.number) ? number.number : undefined;
}

/** A phone as its owner recognizes it and nobody else can use it: `+1 ••• ••01`. */
export function maskPhone(phone: string): string {
  const calling = parsePhoneNumberFromString(phone)?.countryCallingCode ?? '';
  return `+${calling} ••• ••${phone.slice(-2)}`;
}

/**
 * The two-letter country of an E.164 number, or undefined when it belongs to none: satellite and toll-free networks, or an
 * area that nobody has in a numbering plan of several countries, such as +1.
 */
export function countryOf(phone: string): string | undefined {
  return parsePhoneNumberFromString(phone)?.country;
}
