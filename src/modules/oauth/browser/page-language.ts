import type { Request } from 'express';
import { acceptedLanguage, parseUiLocales, type Language } from '../../../pages/language.js';
import { Parameters } from '../protocol/parameters.js';

export const AUTHORIZE_PATH = '/oauth/authorize';

/**
 * The language that the app requested with `ui_locales` (OpenID Connect Core §3.1.2.1). The query of the first request has it;
 * the pages, their forms and redirects pass it on.
 */
export function requestedLanguage(request: Request): Language | undefined {
  if (!request.path.startsWith(AUTHORIZE_PATH)) return undefined;
  const { method, body, query } = request;
  const parameters = new Parameters(method === 'POST' ? (body ?? {}) : query);
  return parseUiLocales(parameters.get('ui_locales') ?? '');
}

/** The query that passes the requested language on to the next page. */
export function languageQuery(request: Request): string {
  const language = requestedLanguage(request);
  return language === undefined ? '' : `?ui_locales=${language}`;
}

/** The language of the response: as the app requested, else as the browser prefers, else English. */
export function languageOf(request: Request): Language {
  return requestedLanguage(request) ?? acceptedLanguage(request);
}
