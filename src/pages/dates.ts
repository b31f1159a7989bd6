/**
 * The day of a moment in UTC: for programs as `2026-11-21`, for people as "21 November 2026".
 * @param locale the language of the words (BCP 47)
 */
export function calendarDay(moment: Date, locale: string): { iso: string; words: string } {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return { iso: moment.toISOString().slice(0, 10), words: format.format(moment) };
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/**
 * A whole number of the largest unit of which there are two: "30 days", "24 hours", "61 segundos".
 * Rounded up, so a page never tells a user that access ends before it does; in a smaller unit that adds less.
 * @param seconds shown as seconds below two minutes
 * @param locale the language (BCP 47)
 */
export function inWords(seconds: number, locale: string): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / size));
}
