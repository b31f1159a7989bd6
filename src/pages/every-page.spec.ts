import { STATES, formsOf, pageOf, tagsOf, valuesOf } from '../../test/support/page-states.js';
import { LANGUAGES } from './language.js';

/** The scripts of the templates that have one. */
const SCRIPTS: Readonly<Record<string, string>> = {
  consent: 'consent.js',
  'repeated-consent': 'consent.js',
  code: 'code.js',
  'connected-apps': 'submit-once.js',
  'connected-app': 'submit-once.js',
};

const translatedPages = LANGUAGES.flatMap((language) =>
  Object.entries(STATES).map(([name, { template, view, render }]) => ({
    language,
    name: name as keyof typeof STATES,
    template,
    view,
    html: render(language),
  })),
);

describe.each(translatedPages)(
  'Page in "$language": $name',
  ({ language, name, template, html }) => {
    it('is an HTML document in its language with one heading, one main element and a viewport', () => {
      expect(html).toMatch(
        new RegExp(`^<!doctype html>\\s*<html lang="${language}"(?: dir="rtl")?>`),
      );
      expect(tagsOf(html, 'h1')).toHaveLength(1);
      expect(tagsOf(html, 'main')).toHaveLength(1);
      expect(html).toContain(
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
      );
    });

    it('loads only files of this server: a stylesheet, an icon, logos and at most one script', () => {
      expect(tagsOf(html, 'link')).toEqual([
        '<link rel="stylesheet" href="/assets/style.css">',
        '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">',
      ]);
      const script = SCRIPTS[template];
      expect(tagsOf(html, 'script')).toEqual(
        script === undefined ? [] : [`<script type="module" src="/assets/${script}">`],
      );
      expect(html).not.toMatch(/<(style|iframe|object|embed)\b|\son\w+=|\sstyle=/);
      for (const address of ['href', 'src', 'action'].flatMap((attribute) =>
        valuesOf(html, attribute),
      )) {
        expect(address).toMatch(/^(\/(?!\/)|#)/);
      }
    });

    it('references only unique, existing elements in labels, descriptions and fragment links', () => {
      const ids = valuesOf(html, 'id');
      expect(new Set(ids).size).toBe(ids.length);
      const references = ['for', 'aria-describedby', 'aria-labelledby'];
      const named = references
        .flatMap((attribute) => valuesOf(html, attribute))
        .flatMap((v) => v.split(' '));
      const linked = valuesOf(html, 'href').filter((href) => href.startsWith('#'));
      for (const id of [...named, ...linked.map((href) => href.slice(1))])
        expect(ids).toContain(id);
    });

    it('binds every form to its authorization request, sign-in or session, with values escaped', () => {
      const hasSessionForms = name.startsWith('connected app');
      for (const form of formsOf(html).values()) {
        expect(form.includes('name="transaction" value="txn_1"')).toBe(!hasSessionForms);
        expect(form).toContain('<input type="hidden" name="token" value="to&quot;ken">');
      }
    });

    it('renders no undefined or null value', () => {
      expect(html).not.toMatch(/undefined|null|\[object/);
    });
  },
);

/** Texts of templates that no language translates. */
const UNTRANSLATED = [
  'client_id',
  'client_secret',
  '/oauth/authorize',
  '/oauth/token',
  'GET /dev/v1/me\nAuthorization: Bearer &lt;access token&gt;',
];
/** Single words may be equal in two languages, and so may countries of the list. */
const ALIKE = /^\S+$| \(\+\d+\)$/;

/** The texts of a page between its tags, its title included, except those marked as English. */
function textsOf(html: string): string[] {
  return html
    .replaceAll(/<span lang="en">.*?<\/span>/gs, '')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

it.each(translatedPages.filter(({ language }) => language !== 'en'))(
  'Page "$name" in "$language" is as in English, with every text translated',
  ({ name, html, view }) => {
    const english = pageOf(name);
    const values = JSON.stringify(view);
    const own = textsOf(html).filter(
      (text) =>
        !values.includes(JSON.stringify(text).slice(1, -1)) &&
        !UNTRANSLATED.includes(text) &&
        !ALIKE.test(text),
    );
    expect(own.filter((text) => textsOf(english).includes(text))).toEqual([]);
    const shapeOf = (page: string) =>
      page.match(/<form[^>]*>| name="\w+"|<(?:p|li|h1|h2|h3|legend|button)\b/g);
    expect(shapeOf(html)).toEqual(shapeOf(english));
  },
);
