import type { Request } from 'express';

/** The languages that pages and messages are written in (BCP 47), the one for everybody else first. */
export const LANGUAGES = ['en', 'es'] as const;

export type Language = (typeof LANGUAGES)[number];

/** How dates, numbers and durations are written in each (BCP 47). */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', es: 'es' };

/** A tag as BCP 47 spells it: its language, then whatever narrows it down. */
const TAG = /^([a-z]{2,3})(?:-[a-z\d]{1,8})*$/i;

/**
 * The first of these languages that is spoken here, or undefined when none is. A tag that is more exact, such as `es-MX`,
 * means its language; one that cannot be read is passed over (OpenID Connect Core §3.1.2.1; lookup of RFC 4647 §3.4).
 * @param uiLocales tags with spaces between, the best first
 */
export function languageIn(uiLocales: string): Language | undefined {
  for (const tag of uiLocales.split(' ')) {
    const spoken = TAG.exec(tag)?.[1]?.toLowerCase();
    const language = LANGUAGES.find((each) => each === spoken);
    if (language) return language;
  }
  return undefined;
}

/** The language that the browser likes best among those spoken here (RFC 9110 §12.5.4), English where it likes none. */
export function acceptedLanguage(request: Request): Language {
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return LANGUAGES.find((each) => each === accepted) ?? LANGUAGES[0];
}
