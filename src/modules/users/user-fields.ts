import { numberBetween, textUpTo, webUrl } from '../../platform/typed-values.js';

/** What an operator tells about a user, by its name in files: each reader takes what was typed, or throws what is wrong with it. */
export const readers = {
  name: textUpTo(200),
  neighborhood: textUpTo(200),
  photo_url: webUrl,
  latitude: numberBetween(-90, 90),
  longitude: numberBetween(-180, 180),
};

/** The end of a sentence about a phone that is none. */
export const PHONE_WANTED = 'must be a phone number with its country code, such as +14155550101';
