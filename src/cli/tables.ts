import { codePoints } from '../platform/text.js';

/** Columns of every terminal. */
export const WIDTH = 80;
const GAP = '  ';
/** Of the last column of a list: narrower cells would say nothing. */
const MIN_CELL_WIDTH = 16;

/** Escapes control characters (ECMA-48), which a terminal would obey, like JSON: valid JSON keeps its meaning. */
export function visible(text: string): string {
  return text.replace(
    /(?![\t\n])\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** At least one line of at most `width` characters, broken at spaces, or within a word that is longer than a line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, width))) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (codePoints(line) + 1 + codePoints(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function pieces(word: string, width: number): string[] {
  const characters = Array.from(word);
  const count = Math.max(1, Math.ceil(characters.length / width));
  return Array.from({ length: count }, (_, at) =>
    characters.slice(at * width, (at + 1) * width).join(''),
  );
}

/** One record: a line for each member, names and values aligned. Values are never cut. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows.map((row) => alignedLine(row, widths)).join('\n');
}

/** A record, with its values as text; empty where a value is missing. */
export function keyValues(record: object): string {
  return table(Object.entries(record).map(([name, value]) => [name, String(value ?? '')]));
}

/** A table within 80 columns: long values are wrapped in their column. */
export function wrappedTable(rows: readonly (readonly [name: string, value: string])[]): string {
  const [width = 0] = widthsOf(rows);
  const lines = rows.flatMap(([name, value]) =>
    wrapped(value, WIDTH - width - GAP.length).map((part, at) => [at === 0 ? name : '', part]),
  );
  return lines.map((row) => alignedLine(row, [width])).join('\n');
}

/**
 * Many records, one per line under `header`, within 80 columns: the last column is cut if necessary. If it would become too
 * narrow, each record is a table.
 */
export function list(header: readonly string[], records: readonly (readonly string[])[]): string {
  const widths = widthsOf([header, ...records]);
  const lead = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.min(widths.at(-1) ?? 0, WIDTH - lead);
  if (last < Math.min(MIN_CELL_WIDTH, widths.at(-1) ?? 0))
    return records
      .map((record) => table(header.map((name, at) => [name, record[at] ?? ''])))
      .join('\n\n');
  return [header, ...records]
    .map((row) => alignedLine([...row.slice(0, -1), cut(row.at(-1) ?? '', last)], widths))
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

function cut(cell: string, width: number): string {
  if (codePoints(cell) <= width) return cell;
  return `${Array.from(cell)
    .slice(0, width - 1)
    .join('')}…`;
}
