import type { Language } from '../../src/pages/language.js';
import { Markup } from '../../src/pages/translations/markup.js';
import { CATALOGUES } from '../../src/pages/translations/translations.js';

/** Names, hosts, seconds and numbers of apps. */
const ARGUMENT = 7_200;

/** Every text of a catalogue by its path, such as `code.title`, with functions called. */
export function textsOf(language: Language): ReadonlyMap<string, string> {
  const catalogue = CATALOGUES[language];
  const values = { startAgain: catalogue.recovery.backToApp, seconds: ARGUMENT };
  const errors = Object.entries(catalogue.errors).map(([code, text]) => [code, text(values)]);
  return new Map(entriesOf({ ...catalogue, errors: Object.fromEntries(errors) }));
}

function entriesOf(entry: unknown, path = ''): [string, string][] {
  if (typeof entry === 'string' || entry instanceof Markup) return [[path, entry.toString()]];
  if (typeof entry === 'function') return entriesOf(entry(ARGUMENT, ARGUMENT, ARGUMENT), path);
  return Object.entries(entry as object).flatMap(([name, inner]) =>
    entriesOf(inner, path === '' ? name : `${path}.${name}`),
  );
}
