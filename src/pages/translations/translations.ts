import type { Language } from '../language.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

/** Selects a sentence from the catalogue of any language. */
export type Sentence = (words: Catalogue) => string;

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };
