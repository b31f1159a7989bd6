import type { Request } from 'express';
import { acceptedLanguage, languageIn, type Language } from '../../../pages/language.js';
import { Parameters } from './parameters.js';

/** What the addresses of an app's request begin with. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/**
 * The language that the app asked for with `ui_locales` (OpenID Connect Core §3.1.2.1): in the query of its link, then in
 * the forms of our own pages, which pass it on. So it lasts as long as the request, and nothing needs to be stored.
 */
export function requestedLanguage(request: Request): Language | undefined {
  if (!request.path.startsWith(AUTHORIZE_PATH)) return undefined;
  const { method, body, query } = request;
  const parameters = new Parameters(method === 'POST' ? (body ?? {}) : query);
  return languageIn(parameters.get('ui_locales') ?? '');
}

/** The language of what answers this request: the app's choice before the browser's, and English where neither is spoken. */
export function languageOf(request: Request): Language {
  return requestedLanguage(request) ?? acceptedLanguage(request);
}
