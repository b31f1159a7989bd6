import type { Language } from '../language.js';
import type { Text } from './markup.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

/** Returns one text from the catalogue of a language that is chosen later. */
export type TextSelector = (texts: Catalogue) => Text;

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };
