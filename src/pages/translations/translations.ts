import type { Language } from '../language.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

/** One sentence, in whichever language. */
export type Sentence = (words: Catalogue) => string;

/** What is said in each language. */
export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };
