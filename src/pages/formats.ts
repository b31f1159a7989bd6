/**
 * A time as ISO 8601 and, in a locale (BCP 47), as "21 November 2026 at 09:30 UTC". With the time of day and the time zone, because
 * the day alone would be wrong for many readers.
 */
export function formatTime(time: Date, locale: string): { iso: string; text: string } {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return { iso: time.toISOString(), text: `${format.format(time)} UTC` };
}

/** The length of an excerpt in UTF-16 code units. Chats show up to about two hundred characters of a page. */
const MAX_EXCERPT = 200;

/** The beginning of a text on one line, cut between words, or between the characters of a long word. */
export function excerptOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_EXCERPT) return line;
  const lastSpace = line.lastIndexOf(' ', MAX_EXCERPT);
  if (lastSpace > MAX_EXCERPT / 2) return `${line.slice(0, lastSpace)}…`;
  // Without the last character, as a reader sees it, which may be incomplete.
  const characters = [...new Intl.Segmenter().segment(line.slice(0, MAX_EXCERPT))].slice(0, -1);
  return `${characters.map(({ segment }) => segment).join('')}…`;
}

/** The units of `formatDuration` with their lengths in seconds, the longest first. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/**
 * Formats a duration in the largest unit with a value of at least 2, in a locale (BCP 47): "30 days", "24 hours",
 * "61 segundos". Rounds up, so that access never outlives the time shown on a page.
 */
export function formatDuration(seconds: number, locale: string): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / size));
}

/** Adds the name of each country (ISO 3166-1 alpha-2) in a locale (BCP 47), and sorts by it. */
export function sortedByName<T extends { code: string }>(
  countries: readonly T[],
  locale: string,
): (T & { name: string })[] {
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const collator = new Intl.Collator(locale);
  return countries
    .map((country) => ({ ...country, name: names.of(country.code) ?? country.code }))
    .toSorted((one, other) => collator.compare(one.name, other.name));
}

/** The first character of a name that a reader sees as one, in upper case. */
export function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return (first?.segment ?? '').toUpperCase();
}
