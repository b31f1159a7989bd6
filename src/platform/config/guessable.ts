import { DEVELOPMENT_PEPPER } from './app-config.js';

/** Nearly all three steps in a row between the characters of random text are different, even of decimal digits. */
const MIN_VARIETY = 2 / 3;

/** Whether an attacker can guess a secret: the public one of this repository, or a repeated text or sequence such as `abcdef`. */
export function isGuessable(secret: string): boolean {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = Buffer.from(encoded ?? secret, encoded === undefined ? 'utf8' : 'base64');
  return key.toString('utf8') === DEVELOPMENT_PEPPER || varietyOf(key) < MIN_VARIETY;
}

/** How many of the steps, each three in a row, are different: from almost 0 for a repeated character to 1. */
function varietyOf(key: Buffer): number {
  const steps = [...key.subarray(1)].map((byte, index) => byte - (key[index] ?? 0));
  const threes = steps.slice(2).map((step, index) => `${steps[index]} ${steps[index + 1]} ${step}`);
  return new Set(threes).size / threes.length;
}
