const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/**
 * A whole number of the largest unit that fits, in English: "30 days", "1 hour".
 * Rounded up, so a page never tells a user that access ends before it does.
 * @param seconds shown as seconds below a minute
 */
export function inWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1];
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / size));
}
