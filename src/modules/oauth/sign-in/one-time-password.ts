import { randomInt } from 'node:crypto';
import type { AppConfig } from '../../../platform/config/app-config.js';
import { plainNumber } from '../../../platform/text.js';
import { CATALOGUES } from '../../../pages/translations/translations.js';
import type { Language } from '../../../pages/language.js';

const DIGITS = 6;

/** Six random digits (NIST SP 800-63B, section 5.1.3.2). */
export function newOneTimePassword(): string {
  return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
}

/** Six digits, or undefined. Accepts spaces, dashes, invisible marks and the digits of any script. */
export function parseOneTimePassword(typed: string): string | undefined {
  const digits = plainNumber(typed).replaceAll(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** The last line lets phones fill in the password on this host only (WebOTP). */
export function oneTimePasswordMessage(
  password: string,
  language: Language,
  { brand, otp, publicUrl }: Pick<AppConfig, 'brand' | 'otp' | 'publicUrl'>,
): string {
  const { layout, sms } = CATALOGUES[language];
  const text = sms.oneTimePassword(password, brand.name ?? layout.network, otp.seconds);
  return `${text}\n\n@${new URL(publicUrl).hostname} #${password}`;
}
