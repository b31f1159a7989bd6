import type { Request } from 'express';
import { acceptedCountry, parseUiLocales } from './language.js';

describe('parseUiLocales', () => {
  it.each([
    ['es', 'es'],
    ['en', 'en'],
    ['es-MX', 'es'],
    ['es-419', 'es'],
    ['ES-mx', 'es'],
    ['es_MX', 'es'],
    ['qaa_FR es_419', 'es'],
    ['en-GB', 'en'],
    ['qaa es-MX en', 'es'],
    ['qaa-CA en es', 'en'],
    ['  es', 'es'],
    ['es-Latn-MX-x-private', 'es'],
  ])('returns the first supported language of "%s"', (uiLocales, language) => {
    expect(parseUiLocales(uiLocales)).toBe(language);
  });

  it.each(['', ' ', 'qaa', 'est', 'e', 'español', '*', 'es-', 'es-toolongsubtag', 'en;q=1'])(
    'returns undefined for "%s", which is unsupported or not a language tag',
    (uiLocales) => {
      expect(parseUiLocales(uiLocales)).toBeUndefined();
    },
  );
});

describe('acceptedCountry', () => {
  it.each([
    [['es-MX', 'es', 'en-US'], 'MX'],
    [['en', 'es-ar'], 'AR'],
    [['zh-Hant-TW'], 'TW'],
    [['es', 'es-419', '*'], undefined],
    [[], undefined],
  ])('returns the first country of the languages %j: %s', (languages, country) => {
    expect(acceptedCountry({ acceptsLanguages: () => languages } as unknown as Request)).toBe(
      country,
    );
  });
});
