import { InvalidRequest } from '../../../platform/errors.js';
import { isWebUrl } from '../../../platform/http/validation/web-url.js';
import { imageTypeOf, MAX_LOGO_BYTES } from '../../../platform/logo-file.js';
import { sha256 } from '../../../platform/secrets.js';
import { codePoints } from '../../../platform/text.js';
import { validPublisher } from './app-name.js';

/** What users see of an app besides its name. Null if the app has none. */
export interface AppIdentity {
  /** The company or person behind the app. */
  publisher: string | null;
  homepageUrl: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
  /** Whether an operator verified the publisher. */
  isVerified: boolean;
  /** SHA-256 of the logo's bytes, in hex. */
  logoHash: string | null;
}

/** Null removes a value. */
export interface IdentityChanges extends Partial<Omit<AppIdentity, 'logoHash'>> {
  /** A PNG, JPEG or WebP picture of at most 262,144 bytes. */
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
  if (logo.length > MAX_LOGO_BYTES || imageTypeOf(logo) === undefined)
    throw new InvalidRequest(
      `The logo must be a PNG, JPEG or WebP picture of at most ${MAX_LOGO_BYTES} bytes.`,
    );
  return sha256(logo);
}
