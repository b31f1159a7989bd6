import type { Request } from 'express';
import { type Language, languageOf } from '../language.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };

/** The texts in the language of the request. */
export function textsFor(request: Request): Catalogue {
  return CATALOGUES[languageOf(request)];
}
