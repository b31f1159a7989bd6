import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { digestsEqual, hmacSha256, sha256 } from '../../../common/secrets.js';
import { AppConfig } from '../../../config/app-config.js';

const KEY_BYTES = 32;

/**
 * The tokens in the forms of the account's pages (RFC 6749 §10.12). They are made from what they belong to instead of being
 * stored, so that opening a page writes nothing.
 */
@Injectable()
export class FormTokens {
  private readonly key: string;

  constructor({ otp }: AppConfig) {
    const key = hkdfSync('sha256', otp.pepper, '', 'forms of the account pages', KEY_BYTES);
    this.key = Buffer.from(key).toString('hex');
  }

  /** For the forms of one sign-in in one browser. */
  ofSignIn(transaction: string, browserHash: string): string {
    return hmacSha256(this.key, `sign-in|${transaction}|${browserHash}`);
  }

  /** For the forms of who is signed in. */
  ofSession(sessionHash: string): string {
    return hmacSha256(this.key, `session|${sessionHash}`);
  }
}

/** Whether a form brought this token, in constant time. What a form brings may have any length, so digests are compared. */
export function tokensEqual(expected: string, presented: string): boolean {
  return digestsEqual(sha256(expected), sha256(presented));
}
