import type { Request } from 'express';
import * as languages from './translations/languages.js';

/** The tag (BCP 47) of a language of pages and text messages. */
export type Language = keyof typeof languages;

const DEFAULT: Language = 'en';

/** The default first. */
export const LANGUAGES: readonly Language[] = [
  ...new Set([DEFAULT, ...(Object.keys(languages) as Language[])]),
];

const MOST_SPECIFIC_FIRST = LANGUAGES.toSorted((one, other) => other.length - one.length);

/** A language tag (BCP 47). Many apps send the underscore of their platform, as in `es_MX`. */
const LANGUAGE_TAG = /^[a-z]{2,3}(?:[-_][a-z\d]{1,8})*$/i;

/** A language tag with a region, such as `es-MX` or `zh-Hant-TW` (BCP 47). */
const COUNTRY_TAG = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})$/i;

/**
 * The first supported language of `ui_locales`: tags separated by spaces, the preferred first (OpenID Connect Core §3.1.2.1;
 * lookup of RFC 4647 §3.4). `es-MX` and `es_MX` match `es`; an invalid tag is ignored.
 */
export function parseUiLocales(uiLocales: string): Language | undefined {
  return lookUp(uiLocales.split(' '));
}

/** The authorization endpoint and its pages, where an app may request a language. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/**
 * The language that the app requested with `ui_locales` (OpenID Connect Core §3.1.2.1). The query of the first request has it;
 * the pages, their forms and redirects pass it on. A repeated parameter counts as omitted.
 */
export function requestedLanguage({ path, method, body, query }: Request): Language | undefined {
  if (!path.startsWith(AUTHORIZE_PATH)) return undefined;
  const { ui_locales: uiLocales } = ((method === 'POST' ? body : query) ?? {}) as {
    ui_locales?: unknown;
  };
  return typeof uiLocales === 'string' ? parseUiLocales(uiLocales) : undefined;
}

/** The language of the response: as the app requested, else as the browser prefers, else English. */
export function languageOf(request: Request): Language {
  return requestedLanguage(request) ?? acceptedLanguage(request);
}

/**
 * The first supported language in the browser's order of preference (RFC 9110 §12.5.4; lookup of RFC 4647 §3.4); English by
 * default.
 */
export function acceptedLanguage(request: Request): Language {
  // `acceptsLanguages` with a list applies `*`, but prefers an exact tag to an earlier one that only matches by lookup.
  const wildcard = request.acceptsLanguages([...LANGUAGES]);
  return lookUp(request.acceptsLanguages()) ?? lookUp([String(wildcard)]) ?? DEFAULT;
}

/** The language of the first tag that begins with one: `es` for `es-MX`, unless there is `es-MX`. */
function lookUp(tags: readonly string[]): Language | undefined {
  for (const tag of tags) {
    const subtags = LANGUAGE_TAG.test(tag) ? `${tag.replaceAll('_', '-').toLowerCase()}-` : '';
    const language = MOST_SPECIFIC_FIRST.find((each) =>
      subtags.startsWith(`${each.toLowerCase()}-`),
    );
    if (language) return language;
  }
  return undefined;
}

/** The first country that the browser's languages name: `MX` for `es-MX`. Undefined if none does. */
export function acceptedCountry(request: Request): string | undefined {
  for (const tag of request.acceptsLanguages()) {
    const country = COUNTRY_TAG.exec(tag)?.[1]?.toUpperCase();
    if (country !== undefined) return country;
  }
  return undefined;
}
