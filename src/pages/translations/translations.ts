import type { Language } from '../language.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

/** Returns one text from the catalogue of a language that is chosen later. */
export type TextSelector = (texts: Catalogue) => string;

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };
