import { DEVELOPMENT_PEPPER } from './app-config.js';

/** In random text, even in decimal digits, almost no run of three steps between characters repeats. */
const MIN_VARIETY = 2 / 3;

/** Whether an attacker can guess a secret: the public one of this repository, or a repeated text or sequence such as `abcdef`. */
export function isGuessable(secret: string): boolean {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = Buffer.from(encoded ?? secret, encoded === undefined ? 'utf8' : 'base64');
  return key.toString('utf8') === DEVELOPMENT_PEPPER || varietyOf(key) < MIN_VARIETY;
}

/** The share of different runs of three steps between bytes: almost 0 for a repeated character, 1 if no run repeats. */
function varietyOf(key: Buffer): number {
  const steps = [...key.subarray(1)].map((byte, index) => byte - (key[index] ?? 0));
  const threes = steps.slice(2).map((step, index) => `${steps[index]} ${steps[index + 1]} ${step}`);
  return new Set(threes).size / threes.length;
}
