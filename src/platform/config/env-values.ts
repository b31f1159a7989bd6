import { z } from 'zod';

/** What a signed 32-bit column and a timer can hold. */
export const LARGEST = 2_147_483_647;

export const flag = z.enum(['0', '1']).transform((value) => value === '1');
export const count = wholeNumber(0);
export const seconds = wholeNumber(1);

export const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((value) => !/^https?:\/\/[^/]*@/.test(value), 'must not hold a user name or password');

export const origin = address
  .refine(
    isOrigin,
    'must be an origin such as https://dev.example.com, without a path, query or fragment',
  )
  .transform((value) => new URL(value).origin);

export const baseUrl = address
  .refine(hasNoQuery, 'must not have a query or fragment')
  .transform((value) => value.replace(/[/?#]+$/, ''));

/** Decimal digits only: neither blanks nor 0x10 nor 1e3 is a number here. */
export function wholeNumber(least: number, most = LARGEST) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`));
}

function isOrigin(value: string): boolean {
  return !URL.canParse(value) || (new URL(value).pathname === '/' && hasNoQuery(value));
}

function hasNoQuery(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { search, hash } = new URL(value);
  return search === '' && hash === '';
}
