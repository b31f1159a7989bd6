import { codePoints } from '../platform/text.js';
import { wrapped } from './command.js';

/** What every terminal shows in one line. */
export const WIDTH = 80;
const GAP = '  ';
/** A column that is narrower tells nothing. */
const LEAST_WIDTH = 16;

/** A thing: one line per member, names and values aligned. Values are never cut. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows.map((row) => line(row, widths)).join('\n');
}

/** The same within 80 columns, however long the values: each goes on under itself. */
export function wrappedTable(rows: readonly (readonly [name: string, value: string])[]): string {
  const [width = 0] = widthsOf(rows);
  const lines = rows.flatMap(([name, value]) =>
    wrapped(value, WIDTH - width - GAP.length).map((part, at) => [at === 0 ? name : '', part]),
  );
  return lines.map((row) => line(row, [width])).join('\n');
}

/**
 * Many things, one per line under `header`, within 80 columns: the last column is cut where it must be. Where even that is
 * not enough, each thing is a table of its own.
 */
export function list(header: readonly string[], things: readonly (readonly string[])[]): string {
  const widths = widthsOf([header, ...things]);
  const lead = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.min(widths.at(-1) ?? 0, WIDTH - lead);
  if (last < Math.min(LEAST_WIDTH, widths.at(-1) ?? 0))
    return things
      .map((thing) => table(header.map((name, at) => [name, thing[at] ?? ''])))
      .join('\n\n');
  return [header, ...things]
    .map((row) => line([...row.slice(0, -1), cut(row.at(-1) ?? '', last)], widths))
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

function line(row: readonly string[], widths: readonly number[]): string {
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
