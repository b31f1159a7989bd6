import { LANGUAGES, type Language } from '../language.js';
import { PAGE_ERRORS } from '../page-errors.js';
import { CATALOGUES } from './translations.js';
import { markup, Markup, toHtml } from './markup.js';

/** The argument for every parameter: names, hosts, seconds, numbers of apps. */
const ARGUMENT = 7_200;

/** The paths of the texts that are equal in both languages. */
const EQUAL_TEXTS = ['layout.error'];

/** Every text of a catalogue by its path, with functions called. */
function textsOf(entry: unknown, path: string[] = []): [string, string][] {
  if (typeof entry === 'string' || entry instanceof Markup)
    return [[path.join('.'), entry.toString()]];
  if (typeof entry === 'function') return textsOf(entry(ARGUMENT, ARGUMENT, ARGUMENT), path);
  return Object.entries(entry as object).flatMap(([name, inner]) =>
    textsOf(inner, [...path, name]),
  );
}

/** The texts of the catalogue and of the error pages. */
function allTexts(language: Language): [string, string][] {
  const values = { startAgain: CATALOGUES[language].recovery.backToApp, seconds: ARGUMENT };
  return [
    ...textsOf(CATALOGUES[language]),
    ...Object.entries(PAGE_ERRORS).flatMap(([code, error]) =>
      textsOf(error[language](values), ['errors', code]),
    ),
  ];
}

const english = allTexts('en');
const spanish = new Map(allTexts('es'));

describe('Translations', () => {
  it('have the same keys in English and Spanish, also in lists', () => {
    expect(english.length).toBeGreaterThan(140);
    expect([...spanish.keys()].toSorted()).toEqual(english.map(([path]) => path).toSorted());
  });

  it('differ between English and Spanish', () => {
    const same = english.filter(([path, text]) => spanish.get(path) === text);
    expect(same.map(([path]) => path)).toEqual(EQUAL_TEXTS);
  });

  it.each(LANGUAGES)('have no empty text and no missing value in "%s"', (language) => {
    for (const [path, text] of allTexts(language)) {
      expect(text, path).toMatch(/\p{L}{2}/u);
      expect(text, path).not.toMatch(/undefined|NaN|\[object|^\s|\s$| {2}/);
    }
  });

  it('contain their values equally often in English and Spanish', () => {
    // `ARGUMENT` as a number or a text, or as a duration: 2 hours.
    const countValues = (text = ''): number => text.match(/\b(7[.,]?200|2)\b/g)?.length ?? 0;
    for (const [path, text] of english)
      expect([path, countValues(spanish.get(path))]).toEqual([path, countValues(text)]);
  });

  it('have the same elements in English and Spanish', () => {
    // Spanish texts mark their English passages with <span lang="en">.
    const elements = (text = ''): string[] =>
      (text.match(/<[^>]+>/g) ?? []).filter((tag) => !/<span lang="en">|<\/span>/.test(tag));
    for (const [path, text] of english)
      expect([path, elements(spanish.get(path))]).toEqual([path, elements(text)]);
  });

  it('address the Spanish user as "usted"', () => {
    const familiar =
      /(?<!\p{L})(tú|tu|tus|te|ti|contigo|tuyo|puedes|tienes|quieres|eres)(?!\p{L})/iu;
    for (const [path, text] of spanish) expect(text, path).not.toMatch(familiar);
  });
});

describe('Markup', () => {
  it('escapes the values, but not the template', () => {
    const name = `<b>"A" & 'B'</b>`;
    const escaped = '&lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/b&gt;';
    expect(toHtml(markup`<i>${name}</i>`)).toBe(`<i>${escaped}</i>`);
    expect(toHtml(name)).toBe(escaped);
  });

  it('does not escape a value twice', () => {
    const inner = markup`<i>${'&'}</i>`;
    expect(toHtml(markup`<p>${inner}</p>`)).toBe('<p><i>&amp;</i></p>');
    expect(toHtml(inner)).toBe('<i>&amp;</i>');
  });
});
