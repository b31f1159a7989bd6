import { codePoints } from '../platform/text.js';

const GAP = '  ';
/** Minimum width of the last column of a list. */
const MIN_LAST_COLUMN_WIDTH = 16;

/** Wraps text at spaces into lines of at most `width` characters; splits words that are longer. Returns at least one line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ').flatMap((whole) => splitWord(whole, width))) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (codePoints(line) + 1 + codePoints(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function splitWord(word: string, width: number): string[] {
  const characters = Array.from(word);
  const count = Math.max(1, Math.ceil(characters.length / width));
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * width, (index + 1) * width).join(''),
  );
}

/** A table without a header, such as the fields of one record. Values are never truncated. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows.map((row) => alignedLine(row, widths)).join('\n');
}

/** One record: a line for each field; null and undefined are empty. */
export function keyValues(record: object): string {
  return table(Object.entries(record).map(([name, value]) => [name, String(value ?? '')]));
}

/**
 * The JSON members of a result, with the names and in the order of its declaration. A date becomes ISO 8601.
 * @param names such as `id, user_id, details: {…}`
 * @param values have the same names in camel case, such as `userId`; the last one with a name counts
 */
export function membersOf(names: string, ...values: object[]): Record<string, unknown> {
  const all = new Map(values.flatMap((one) => Object.entries(one)));
  return Object.fromEntries(
    (names.match(/\w+/g) ?? []).map((name) => [
      name,
      all.get(name.replaceAll(/_./g, (part) => part.slice(1).toUpperCase())),
    ]),
  );
}

/**
 * CSV with a header, without the last line break. Escapes formulas (CSV injection), because partners choose the names of their apps.
 * @param names the columns, as of `membersOf`
 */
export async function csvText(names: string, rows: readonly object[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const columns = names.split(', ');
  const cast = { date: (value: Date) => value.toISOString(), boolean: String };
  return stringify([...rows], { header: true, columns, escape_formulas: true, cast }).trimEnd();
}

/** A two-column table, at most `width` characters wide, that wraps long values. */
export function wrappedTable(
  rows: readonly (readonly [name: string, value: string])[],
  width: number,
): string {
  const [nameWidth = 0] = widthsOf(rows);
  const lines = rows.flatMap(([name, value]) =>
    wrap(value, width - nameWidth - GAP.length).map((part, index) => [
      index === 0 ? name : '',
      part,
    ]),
  );
  return lines.map((line) => alignedLine(line, [nameWidth])).join('\n');
}

/**
 * Many records, one per line under `header`, at most `width` characters wide. Truncates the last column if necessary; if this
 * column would be too narrow, prints each record as a table instead.
 * @param none the text for a list without records
 */
export function list(
  header: readonly string[],
  records: readonly (readonly string[])[],
  { width, none }: { width: number; none: string },
): string {
  if (records.length === 0) return none;
  const widths = widthsOf([header, ...records]);
  const leadingWidth = widths.slice(0, -1).reduce((sum, column) => sum + column + GAP.length, 0);
  const lastWidth = Math.min(widths.at(-1) ?? 0, width - leadingWidth);
  if (lastWidth < Math.min(MIN_LAST_COLUMN_WIDTH, widths.at(-1) ?? 0))
    return records
      .map((record) => table(header.map((name, column) => [name, record[column] ?? ''])))
      .join('\n\n');
  return [header, ...records]
    .map((row) => alignedLine([...row.slice(0, -1), truncate(row.at(-1) ?? '', lastWidth)], widths))
    .join('\n');
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, codePoints(cell));
    });
  return widths;
}

function alignedLine(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - codePoints(cell))))
    .join(GAP)
    .trimEnd();
}

/** Cuts a text that is longer than `width` characters. */
export function truncate(cell: string, width: number): string {
  if (codePoints(cell) <= width) return cell;
  return `${Array.from(cell)
    .slice(0, width - 1)
    .join('')}…`;
}

/** A number and its noun, such as `1 post` and `2 posts`. */
export function formatNumber(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
