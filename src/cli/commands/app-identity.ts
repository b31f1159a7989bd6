import type { IdentityChanges } from '../../modules/oauth/clients/registration-values.js';
import type { RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { CliCommand } from '../command.js';
import { parseLogo, textUpTo } from '../option-values.js';

/** False removes a value. */
export interface IdentityOptions {
  publisher?: string | false;
  homepage?: string | false;
  privacyUrl?: string | false;
  termsUrl?: string | false;
  logo?: Buffer | false;
  verified?: boolean;
}

/** The name of each option, with what `--no-` does. */
const REMOVALS = {
  publisher: 'remove the publisher',
  homepage: 'remove the homepage',
  'privacy-url': 'remove the privacy policy',
  'terms-url': 'remove the terms',
  logo: 'remove the logo',
  verified: 'mark the publisher as not verified',
};

/** The options that `app update` accepts, for its error without an option. */
export const IDENTITY_OPTIONS: readonly string[] = Object.keys(REMOVALS).map(
  (name) => `--[no-]${name}`,
);

export function addIdentityOptions(command: CliCommand): CliCommand {
  return command
    .option('--publisher <name>', 'company or person behind the app', textUpTo(60))
    .option('--homepage <url>', 'homepage of the app')
    .option('--privacy-url <url>', 'privacy policy of the app')
    .option('--terms-url <url>', 'terms of the app')
    .option('--logo <file>', 'PNG, JPEG or WebP file of at most 256 KiB', parseLogo)
    .option('--verified', 'mark the publisher as verified, after you have checked who it is');
}

/** Adds `--no-publisher` and so on. Call it after `addIdentityOptions`. */
export function addIdentityRemovals(command: CliCommand): CliCommand {
  for (const [name, description] of Object.entries(REMOVALS))
    command.option(`--no-${name}`, description);
  return command;
}

/** Only the given options. */
export function identityChanges(options: IdentityOptions): IdentityChanges {
  const { publisher, homepage, privacyUrl, termsUrl, logo, verified } = options;
  return {
    ...(publisher !== undefined && { publisher: publisher || null }),
    ...(homepage !== undefined && { homepageUrl: homepage === false ? null : homepage }),
    ...(privacyUrl !== undefined && { privacyUrl: privacyUrl === false ? null : privacyUrl }),
    ...(termsUrl !== undefined && { termsUrl: termsUrl === false ? null : termsUrl }),
    ...(logo !== undefined && { logo: logo || null }),
    ...(verified !== undefined && { isVerified: verified }),
  };
}

/** Undefined if the update has not ended the verification, or `--no-verified` has. */
export function verificationNote(
  { verified }: IdentityOptions,
  before: RegisteredApp,
  { clientId, publisher, isVerified }: RegisteredApp,
): string | undefined {
  if (verified !== undefined || isVerified || !before.isVerified) return undefined;
  return publisher === null
    ? 'The app is no longer verified, because it has no publisher.'
    : `The app is no longer verified, because its publisher changed. Check it and run: app update ${clientId} --verified`;
}
