import { numberBetween, textUpTo, webUrl } from '../../platform/operator-input.js';

/** Parsers for the fields of a user, by column. @throws InvalidValue */
export const fieldParsers = {
  name: textUpTo(200),
  neighborhood: textUpTo(200),
  photo_url: webUrl,
  latitude: numberBetween(-90, 90),
  longitude: numberBetween(-180, 180),
};

/** Error message for an invalid phone number, without the name of the field that starts it. */
export const PHONE_REQUIREMENT =
  'must be a phone number with its country code, such as +14155550101';
