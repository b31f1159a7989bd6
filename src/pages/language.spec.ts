import { languageIn } from './language.js';

describe('languageIn', () => {
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
  ])('takes the first language of "%s" that is spoken', (uiLocales, language) => {
    expect(languageIn(uiLocales)).toBe(language);
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
  ])('passes over "%s", which is not spoken or no tag', (uiLocales) => {
    expect(languageIn(uiLocales)).toBeUndefined();
  });
});
