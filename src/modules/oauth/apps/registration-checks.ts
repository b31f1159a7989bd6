import { InvalidRequest } from '../../../common/errors.js';
import {
  canonicalScopes,
  isScope,
  SCOPES,
  splitScope,
  type Scope,
} from '../../../common/scopes.js';
import { codePoints, isBlank } from '../../../common/text.js';
import { redirectUriProblem } from './redirect-uri.js';

const LONGEST_NAME = 200;

/** The name without the spaces around it. @throws InvalidRequest */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (isBlank(name) || codePoints(trimmed) > LONGEST_NAME)
    throw new InvalidRequest(`The name must be 1 to ${LONGEST_NAME} characters.`);
  return trimmed;
}

/** The redirection URIs, one at least, each fit to be registered and given once. @throws InvalidRequest */
export function checkedRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0) throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(uris).size < uris.length) throw new InvalidRequest('A redirect URI is given twice.');
  return uris;
}

/** The scopes of a space-separated list, one at least. @throws InvalidRequest */
export function checkedScopes(scope: string): Scope[] {
  const scopes = splitScope(scope);
  const unknown = scopes.find((value) => !isScope(value));
  if (unknown !== undefined)
    throw new InvalidRequest(`There is no scope "${unknown}". There are ${SCOPES.join(', ')}.`);
  if (scopes.length === 0) throw new InvalidRequest('An app needs at least one scope.');
  return canonicalScopes(scopes);
}
