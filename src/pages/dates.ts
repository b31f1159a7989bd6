/** The UTC day of a time, as `2026-11-21` and as "21 November 2026" in a locale (BCP 47). */
export function calendarDay(time: Date, locale: string): { iso: string; words: string } {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return { iso: time.toISOString().slice(0, 10), words: format.format(time) };
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/**
 * A duration in the largest unit of which there are at least two, in a locale (BCP 47): "30 days", "24 hours", "61 segundos".
 * Rounded up, so that access never outlives what a page says.
 */
export function inWords(seconds: number, locale: string): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / size));
}
