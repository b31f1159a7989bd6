import { parseUiLocales } from './language.js';

describe('parseUiLocales', () => {
  it.each([
    ['es', 'es'],
    ['en', 'en'],
    ['es-MX', 'es'],
    ['es-419', 'es'],
    ['ES-mx', 'es'],
    ['en-GB', 'en'],
    ['fr es-MX en', 'es'],
    ['fr-CA en es', 'en'],
    ['  es', 'es'],
    ['es-Latn-MX-x-private', 'es'],
  ])('returns the first supported language of "%s"', (uiLocales, language) => {
    expect(parseUiLocales(uiLocales)).toBe(language);
  });

  it.each([
    '',
    ' ',
    'fr',
    'est',
    'e',
    'español',
    '*',
    'es_MX',
    'es-',
    'es-toolongsubtag',
    'en;q=1',
  ])('returns undefined for "%s", which is unsupported or not a language tag', (uiLocales) => {
    expect(parseUiLocales(uiLocales)).toBeUndefined();
  });
});
