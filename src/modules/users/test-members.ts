import type { AppConfig } from '../../platform/config/app-config.js';
import { InvalidRequest } from '../../platform/errors.js';
import { hmacSha256 } from '../../platform/secrets.js';
import type { User } from './user.entity.js';

/* Commands import this file before the application starts, so it must not import TypeORM. */

/** A test app or a real app. */
export interface Mode {
  test: boolean;
}

/** How an operator adds a test member, or changes its number. */
export interface TestMember {
  /** Six digits. */
  code: string;
  /** Allows a number that may belong to a person. False by default. */
  anyNumber?: boolean;
}

/** Six digits, as in a text message. */
export const TEST_CODE = /^\d{6}$/;

/** Ranges of numbers that belong to nobody, as regulators reserve them for films and books. */
const FICTIONAL: Readonly<Record<string, RegExp>> = {
  'North America (NANPA)': /^\+1[2-9]\d{2}55501\d{2}$/,
  'United Kingdom (Ofcom)': /^\+44(?:7700900|1632960|2079460|1(?:1[3-8]|[2-6]1)4960)\d{3}$/,
  'France (Arcep)': /^\+33(?:19900|26191|35301|46571|53649|63998)\d{4}$/,
  'Australia (ACMA)': /^\+61[2378](?:5550|7010)\d{4}$/,
};

/** Whether the user is a test member, who can authorize test apps only. */
export function isTestUser(user: Pick<User, 'testCodeHash'>): boolean {
  return user.testCodeHash !== null;
}

/**
 * Whether the user can authorize the app: test members only test apps, and other members only real ones, so that a fixed code never opens
 * a real account. Without an app, as on the account pages, true.
 */
export function canAuthorize(user: Pick<User, 'testCodeHash'>, app: Mode | undefined): boolean {
  return app === undefined || isTestUser(user) === app.test;
}

/** Whether the number (E.164) is reserved for fiction. */
export function isFictional(phone: string): boolean {
  return Object.values(FICTIONAL).some((range) => range.test(phone));
}

/** @throws InvalidRequest if the number may belong to a person, unless `anyNumber` */
export function checkTestPhone(phone: string, anyNumber = false): void {
  if (anyNumber || isFictional(phone)) return;
  throw new InvalidRequest(
    `This number may belong to a person. Use a number that is reserved for fiction, such as +14155550123 (${Object.keys(FICTIONAL).join(', ')}), or add --any-number.`,
  );
}

/** The keyed hash of the fixed code of a test member, as for every other code. */
export function testCodeHash(
  { otp }: Pick<AppConfig, 'otp'>,
  userId: string,
  code: string,
): string {
  return hmacSha256(otp.pepper, `test|${userId}|${code}`);
}
