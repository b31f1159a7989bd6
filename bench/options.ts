import { InvalidArgumentError } from 'commander';

/** Parses a whole number from 1. @throws InvalidArgumentError */
export function parsePositiveInteger(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number from 1.');
  return number;
}
