import type { Request } from 'express';

/** The languages of pages and text messages (BCP 47), the default first. */
export const LANGUAGES = ['en', 'es'] as const;

export type Language = (typeof LANGUAGES)[number];

/** For dates, numbers and durations (BCP 47). */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', es: 'es' };

/** A language tag (BCP 47) with its subtags. Many apps send the underscore of their platform, as in `es_MX`. */
const LANGUAGE_TAG = /^([a-z]{2,3})(?:[-_][a-z\d]{1,8})*$/i;

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
  return lookUp(request.acceptsLanguages()) ?? lookUp([String(wildcard)]) ?? LANGUAGES[0];
}

/** The first tag whose language is supported. */
function lookUp(tags: readonly string[]): Language | undefined {
  for (const tag of tags) {
    const requested = LANGUAGE_TAG.exec(tag)?.[1]?.toLowerCase();
    const language = LANGUAGES.find((each) => each === requested);
    if (language) return language;
  }
  return undefined;
}

/**
 * A time as ISO 8601 and, in a locale (BCP 47), as "21 November 2026 at 09:30 UTC". With the time of day and the time zone, because
 * the day alone would be wrong for many readers.
 */
export function formatTime(time: Date, locale: string): { iso: string; text: string } {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return { iso: time.toISOString(), text: `${format.format(time)} UTC` };
}

/** The units of `formatDuration` with their lengths in seconds, the longest first. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/**
 * Formats a duration in the largest unit with a value of at least 2, in a locale (BCP 47): "30 days", "24 hours",
 * "61 segundos". Rounds up, so that access never outlives the time shown on a page.
 */
export function formatDuration(seconds: number, locale: string): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / size));
}

/** The first country that the browser's languages name: `MX` for `es-MX`. Undefined if none does. */
export function acceptedCountry(request: Request): string | undefined {
  for (const tag of request.acceptsLanguages()) {
    const country = COUNTRY_TAG.exec(tag)?.[1]?.toUpperCase();
    if (country !== undefined) return country;
  }
  return undefined;
}

/** Adds the name of each country (ISO 3166-1 alpha-2) in a language, and sorts by it. */
export function sortedByName<T extends { code: string }>(
  countries: readonly T[],
  language: Language,
): (T & { name: string })[] {
  const names = new Intl.DisplayNames(LOCALES[language], { type: 'region' });
  const collator = new Intl.Collator(LOCALES[language]);
  return countries
    .map((country) => ({ ...country, name: names.of(country.code) ?? country.code }))
    .toSorted((one, other) => collator.compare(one.name, other.name));
}

/** The first character of a name that a reader sees as one, in upper case. */
export function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return (first?.segment ?? '').toUpperCase();
}
