import {
  canonicalScopes,
  formatScope,
  isScope,
  SCOPES,
  splitScope,
} from '../../../platform/access/scopes.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { codePointName, codePoints } from '../../../platform/text.js';
import { isWebUrl } from '../../../platform/http/validation/rules.js';
import { logoProblem } from '../../../platform/logo-file.js';
import { sha256 } from '../../../platform/secrets.js';
import type { AppConfig } from '../../../platform/config/app-config.js';
import { originProblem } from '../protocol/origin.js';
import { redirectUriProblem } from '../protocol/redirect-uri.js';
import type { App } from './client.entities.js';

/**
 * @param registered the redirect URIs that the app has already, which stay valid although the rules have become stricter
 * @throws InvalidRequest
 */
export function validRedirectUris(
  uris: readonly string[],
  config: AppConfig,
  registered: readonly string[] = [],
): readonly string[] {
  if (uris.length === 0) throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of uris) {
    const problem = registered.includes(uri) ? undefined : redirectUriProblem(uri, config);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(uris).size < uris.length)
    throw new InvalidRequest('The redirect URIs contain a duplicate.');
  return uris;
}

const MAX_ORIGINS_CHARACTERS = 2048;

/**
 * Returns the origins of a public app, separated by spaces; null if there are none.
 * @throws InvalidRequest
 */
export function validOrigins(origins: readonly string[], kind: App['kind']): string | null {
  if (origins.length === 0) return null;
  if (kind !== 'public')
    throw new InvalidRequest(
      'Only a public app can have origins, because a page cannot keep a client secret.',
    );
  for (const origin of origins) {
    const problem = originProblem(origin);
    if (problem !== undefined) throw new InvalidRequest(`The origin ${origin} ${problem}.`);
  }
  const joined = [...new Set(origins)].join(' ');
  if (joined.length > MAX_ORIGINS_CHARACTERS)
    throw new InvalidRequest(
      `The origins of an app must have at most ${MAX_ORIGINS_CHARACTERS} characters together.`,
    );
  return joined;
}

export function parseOrigins(origins: string | null): string[] {
  return origins?.split(' ') ?? [];
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

const MAX_NAME_CHARACTERS = 60;
/**
 * Control, format, private-use and unassigned characters, lone surrogates, line separators, and letters without a glyph. Names with
 * them could look like other names, or change the text around them.
 */
const NOT_VISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Returns the name of an app, trimmed. Names of version 1.0 may be longer. @throws InvalidRequest */
export function validAppName(name: string): string {
  return visibleText('name', name);
}

/** Returns the name of a publisher, trimmed. @throws InvalidRequest */
export function validPublisher(publisher: string): string {
  return visibleText('publisher', publisher);
}

function visibleText(what: string, text: string): string {
  const trimmed = text.trim();
  if (trimmed === '' || codePoints(trimmed) > MAX_NAME_CHARACTERS)
    throw new InvalidRequest(`The ${what} must have 1 to ${MAX_NAME_CHARACTERS} characters.`);
  const [hidden] = NOT_VISIBLE.exec(trimmed) ?? [];
  if (hidden !== undefined)
    throw new InvalidRequest(
      `The ${what} contains ${codePointName(hidden)}, which is invisible or unassigned. Use only visible characters; some emoji contain invisible ones.`,
    );
  return trimmed;
}

/** What users see of an app besides its name. Null if the app has none. */
export type AppIdentity = Pick<
  App,
  'publisher' | 'homepageUrl' | 'privacyUrl' | 'termsUrl' | 'isVerified' | 'logoHash'
>;

/** Null removes a value. */
export interface IdentityChanges extends Partial<Omit<AppIdentity, 'logoHash'>> {
  /** A PNG, JPEG or WebP picture of at most 262,144 bytes and 1024 × 1024 pixels. */
  logo?: Buffer | null;
}

export const NO_IDENTITY: Readonly<AppIdentity> = {
  publisher: null,
  homepageUrl: null,
  privacyUrl: null,
  termsUrl: null,
  isVerified: false,
  logoHash: null,
};

const MAX_URL_CHARACTERS = 2048;

/** Validates the given values. @throws InvalidRequest */
export function validIdentity(changes: IdentityChanges): Partial<AppIdentity> {
  const { publisher, homepageUrl, privacyUrl, termsUrl, isVerified, logo } = changes;
  return {
    ...(publisher !== undefined && {
      publisher: publisher === null ? null : validPublisher(publisher),
    }),
    ...(homepageUrl !== undefined && { homepageUrl: validUrl('homepage', homepageUrl) }),
    ...(privacyUrl !== undefined && { privacyUrl: validUrl('privacy policy', privacyUrl) }),
    ...(termsUrl !== undefined && { termsUrl: validUrl('terms', termsUrl) }),
    ...(isVerified !== undefined && { isVerified }),
    ...(logo !== undefined && { logoHash: logo && hashOfLogo(logo) }),
  };
}

export function identityOf(app: AppIdentity): AppIdentity {
  const { publisher, homepageUrl, privacyUrl, termsUrl, isVerified, logoHash } = app;
  return { publisher, homepageUrl, privacyUrl, termsUrl, isVerified, logoHash };
}

/**
 * The identity after the changes. Another publisher, or none, ends the verification, unless the changes verify the new one.
 * @throws InvalidRequest when the app would be verified without a publisher
 */
export function changedIdentity(before: AppIdentity, changes: Partial<AppIdentity>): AppIdentity {
  const after = { ...before, ...changes };
  const isSamePublisher = after.publisher === before.publisher;
  const isVerified = changes.isVerified ?? (before.isVerified && isSamePublisher);
  if (isVerified && after.publisher === null)
    throw new InvalidRequest('A verified app needs a publisher. Add --publisher.');
  return { ...after, isVerified };
}

function validUrl(what: string, url: string | null): string | null {
  if (url === null) return null;
  if (!isWebUrl(url))
    throw new InvalidRequest(
      `The URL of the ${what}, "${url}", must be an http or https URL, without a user name, password or white space.`,
    );
  if (codePoints(url) > MAX_URL_CHARACTERS)
    throw new InvalidRequest(
      `The URL of the ${what} must have at most ${MAX_URL_CHARACTERS} characters.`,
    );
  return url;
}

function hashOfLogo(logo: Buffer): string {
  const problem = logoProblem(logo);
  if (problem !== undefined) throw new InvalidRequest(`The logo ${problem}.`);
  return sha256(logo);
}
