import { randomInt } from 'node:crypto';
import type { AppConfig } from '../../../platform/config/app-config.js';
import { CATALOGUES } from '../../../pages/translations/translations.js';
import type { Language } from '../../../pages/language.js';

const DIGITS = 6;

/** Six random digits (NIST SP 800-63B-4, section 5.1.3.2). */
export function newOneTimePassword(): string {
  return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
}

/** A typed password as six digits, or undefined when it cannot be one. Spaces, hyphens and full-width digits are fine. */
export function parseOneTimePassword(typed: string): string | undefined {
  const digits = typed.normalize('NFKC').replaceAll(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** The message with the password. Its last line lets phones fill it in for this host only (WebOTP). */
export function oneTimePasswordMessage(
  password: string,
  language: Language,
  { otp, publicUrl }: Pick<AppConfig, 'otp' | 'publicUrl'>,
): string {
  return [
    CATALOGUES[language].message.password(password, otp.seconds),
    `@${new URL(publicUrl).hostname} #${password}`,
  ].join('\n\n');
}
