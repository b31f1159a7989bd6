import { DEVELOPMENT_PEPPER } from './app-config.js';

/** Random text has many more. */
const MIN_DIFFERENT_CHARACTERS = 8;

/** Whether a secret is the public one of this repository, or repeats a few characters, so that an attacker can guess it. */
export function isGuessable(secret: string): boolean {
  const key = secret.replace(/^whsec_/, '');
  return (
    key === DEVELOPMENT_PEPPER ||
    new Set(key).size < MIN_DIFFERENT_CHARACTERS ||
    (key + key).indexOf(key, 1) < key.length
  );
}
