const WORDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** The day of a moment in UTC: for programs as `2026-11-21`, for people as "21 November 2026". */
export function calendarDay(moment: Date): { iso: string; words: string } {
  return { iso: moment.toISOString().slice(0, 10), words: WORDS.format(moment) };
}
