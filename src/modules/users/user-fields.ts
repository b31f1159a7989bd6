import { numberBetween, textUpTo, webUrl } from '../../platform/operator-input.js';

/** Parsers for the fields of a user, by column of an import file. The options of `user add` use them, too. @throws InvalidValue */
export const fieldParsers = {
  name: textUpTo(200),
  external_id: textUpTo(128),
  neighborhood: textUpTo(200),
  photo_url: webUrl,
  latitude: numberBetween(-90, 90),
  longitude: numberBetween(-180, 180),
};

/** The end of the error message for an invalid phone number. The message begins with the name of the field. */
export const PHONE_REQUIREMENT =
  'must be a phone number with its country code, such as +14155550101';
