import type { Language } from '../language.js';
import { en, type Catalogue } from './en.js';
import { es } from './es.js';

/** Selects a text in any language. */
export type TextSelector = (texts: Catalogue) => string;

export const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es };
