import {
  canonicalScopes,
  formatScope,
  isScope,
  SCOPES,
  splitScope,
} from '../../../platform/access/scopes.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { redirectUriProblem } from '../protocol/redirect-uri.js';

/** @throws InvalidRequest */
export function validRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0) throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(uris).size < uris.length)
    throw new InvalidRequest('The redirect URIs contain a duplicate.');
  return uris;
}

/** Returns the scopes in canonical order. @throws InvalidRequest */
export function validScope(scope: string): string {
  const scopes = splitScope(scope);
  const unknown = scopes.find((value) => !isScope(value));
  if (unknown !== undefined)
    throw new InvalidRequest(
      `There is no scope "${unknown}". The scopes are ${SCOPES.join(', ')}.`,
    );
  if (scopes.length === 0) throw new InvalidRequest('An app needs at least one scope.');
  return formatScope(canonicalScopes(scopes));
}
