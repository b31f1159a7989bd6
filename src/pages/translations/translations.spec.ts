import { LANGUAGES } from '../language.js';
import { CATALOGUES } from './translations.js';
import { markup, Markup, toHtml } from './markup.js';

/** Stands for everything that a sentence is about: names, hosts, seconds, numbers of apps. */
const FILLING = 7_200;

/** What is the same word in both languages. */
const SAME = ['layout.error'];

/** Every sentence of a catalogue by its place in it, with functions called. */
function sentencesOf(entry: unknown, place: string[] = []): [string, string][] {
  if (typeof entry === 'string' || entry instanceof Markup)
    return [[place.join('.'), entry.toString()]];
  if (typeof entry === 'function') return sentencesOf(entry(FILLING, FILLING, FILLING), place);
  return Object.entries(entry as object).flatMap(([name, inner]) =>
    sentencesOf(inner, [...place, name]),
  );
}

const english = sentencesOf(CATALOGUES.en);
const spanish = new Map(sentencesOf(CATALOGUES.es));

describe('The catalogue', () => {
  it('has each English sentence in Spanish, also those in lists', () => {
    expect(english.length).toBeGreaterThan(140);
    expect([...spanish.keys()].toSorted()).toEqual(english.map(([place]) => place).toSorted());
  });

  it('says nothing in Spanish as it does in English', () => {
    const same = english.filter(([place, sentence]) => spanish.get(place) === sentence);
    expect(same.map(([place]) => place)).toEqual(SAME);
  });

  it.each(LANGUAGES)('leaves no sentence of "%s" empty, and fills each place', (language) => {
    for (const [place, sentence] of sentencesOf(CATALOGUES[language])) {
      expect(sentence, place).toMatch(/\p{L}{2}/u);
      expect(sentence, place).not.toMatch(/undefined|NaN|\[object|^\s|\s$| {2}/);
    }
  });

  it('says in Spanish whatever English says of its subject', () => {
    const fillings = (sentence = ''): number => sentence.match(/\b(7[.,]?200|2)\b/g)?.length ?? 0;
    for (const [place, sentence] of english)
      expect([place, fillings(spanish.get(place))]).toEqual([place, fillings(sentence)]);
  });

  it('keeps the elements of a sentence', () => {
    const elements = (sentence = ''): string[] =>
      (sentence.match(/<[^>]+>/g) ?? []).filter((tag) => !/<span lang="en">|<\/span>/.test(tag));
    for (const [place, sentence] of english)
      expect([place, elements(spanish.get(place))]).toEqual([place, elements(sentence)]);
  });

  it('speaks to Spanish readers as "usted" throughout', () => {
    const familiar =
      /(?<!\p{L})(tú|tu|tus|te|ti|contigo|tuyo|puedes|tienes|quieres|eres)(?!\p{L})/iu;
    for (const [place, sentence] of spanish) expect(sentence, place).not.toMatch(familiar);
  });
});

describe('Markup', () => {
  it('escapes what it is filled with, and nothing of the template', () => {
    const name = `<b>"A" & 'B'</b>`;
    const escaped = '&lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/b&gt;';
    expect(toHtml(markup`<i>${name}</i>`)).toBe(`<i>${escaped}</i>`);
    expect(toHtml(name)).toBe(escaped);
  });

  it('escapes nothing twice', () => {
    const inner = markup`<i>${'&'}</i>`;
    expect(toHtml(markup`<p>${inner}</p>`)).toBe('<p><i>&amp;</i></p>');
    expect(toHtml(inner)).toBe('<i>&amp;</i>');
  });
});
