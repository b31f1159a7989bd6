import type { Request } from 'express';
import { type Language, languageOf } from '../language.js';
import type { Catalogue } from './en/catalogue.js';
import * as languages from './languages.js';

/** A catalogue without a text does not compile. */
export const CATALOGUES: Readonly<Record<Language, Catalogue>> = languages;

/** The texts in the language of the request. */
export function textsFor(request: Request): Catalogue {
  return CATALOGUES[languageOf(request)];
}
