/**
 * The day of a moment in UTC: for programs as `2026-11-21`, for people as "21 November 2026".
 * @param locale the language of the words (BCP 47)
 */
export function calendarDay(moment: Date, locale: string): { iso: string; words: string } {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return { iso: moment.toISOString().slice(0, 10), words: format.format(moment) };
}
