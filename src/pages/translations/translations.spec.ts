import { readdirSync } from 'node:fs';
import { LANGUAGES } from '../language.js';
import { textsOf } from '../../../test/support/texts.js';
import { CATALOGUES } from './translations.js';
import { isolated, markup, toHtml } from './markup.js';

const english = textsOf('en');

it('Each folder of this one is a language of languages.ts', () => {
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.toSorted()).toEqual(LANGUAGES.toSorted());
});

describe.each(LANGUAGES)('The texts in "%s"', (language) => {
  const texts = textsOf(language);
  const others = language === 'en' ? [] : english;

  it('have the same keys as in English, also in lists', () => {
    expect(texts.size).toBeGreaterThan(140);
    expect([...texts.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  });

  it('differ from those in English, except single words', () => {
    const same = [...others].filter(([path, text]) => texts.get(path) === text && /\s/.test(text));
    expect(same).toEqual([]);
  });

  it('are not empty and lack no value', () => {
    for (const [path, text] of texts) {
      expect(text, path).toMatch(/\p{L}{2}/u);
      expect(text, path).not.toMatch(/undefined|NaN|\[object|^\s|\s$| {2}/);
    }
  });

  it('contain their values as often as in English', () => {
    // `ARGUMENT` as a number or a text, or as a duration: 2 hours.
    const countValues = (text = ''): number => text.match(/\b(7\D?200|2)\b/g)?.length ?? 0;
    for (const [path, text] of others)
      expect([path, countValues(texts.get(path))]).toEqual([path, countValues(text)]);
  });

  it('have the same elements as in English', () => {
    // Texts mark their English passages with <span lang="en">.
    const elements = (text = ''): string[] =>
      (text.match(/<[^>]+>/g) ?? []).filter((tag) => !/<span lang="en">|<\/span>/.test(tag));
    for (const [path, text] of others)
      expect([path, elements(texts.get(path))]).toEqual([path, elements(text)]);
  });
});

describe('Isolation of a name in plain text', () => {
  it.each(['Garden Share', 'León & Cía.', 'Соседи', '隣人'])(
    'does not change "%s", because terminals show the marks',
    (name) => {
      expect(isolated(name)).toBe(name);
    },
  );

  it.each(['حديقة', 'גינה', 'Garden حديقة', '𞤀𞤁'])('encloses "%s" in marks', (name) => {
    expect(isolated(name)).toBe(`\u2068${name}\u2069`);
  });

  it.each(LANGUAGES)('applies to the titles and links in "%s"', (language) => {
    const { apps, recovery } = CATALOGUES[language];
    for (const text of [apps.singleTitle, apps.disconnected, recovery.returnTo]) {
      expect(text('حديقة')).toContain('\u2068حديقة\u2069');
      expect(text('Garden')).not.toMatch(/[\u2068\u2069]/);
    }
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
