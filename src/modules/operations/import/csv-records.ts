import { parse as parseCsv } from 'csv-parse/sync';
import { InvalidRequest } from '../../../platform/errors.js';
import {
  type Column,
  COLUMNS,
  type FileRecord,
  INVALID_UTF8,
  isColumn,
  isNumber,
  type Line,
  type Place,
  REQUIRED_COLUMNS,
  TOO_LONG,
  unknownColumn,
} from './file-record.js';

/** After so many lines, an open quote is a mistake in its first line, not a line break in a value. */
const MAX_LINES_OF_RECORD = 20;
const QUOTES_HELP = 'Close each quoted value, and double the quotes inside it.';
const UNMATCHED_QUOTES = `Its quotes do not match. ${QUOTES_HELP}`;

interface Header {
  /** Undefined for a column without a name, as spreadsheets add at the end. */
  columns: readonly (Column | undefined)[];
  delimiter: Delimiter;
}

/** Excel separates columns by semicolons where the decimal separator is a comma, as in German and Spanish. */
const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
type Delimiter = keyof typeof DELIMITERS;

/** A first line that tells Excel the separator. Excel does not show it. */
const EXCEL_SEPARATOR = /^"?sep=.?"?$/i;

/** A record of the table, of one line or several. */
interface Row {
  lines: readonly Line[];
  /** Undefined if its quotes do not match. */
  cells: string[] | undefined;
}

/**
 * Parses CSV (RFC 4180). The columns may have any order, and be separated by semicolons or tabs. A wrong quote invalidates only its own
 * line.
 */
export async function* csvRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let header: Header | undefined;
  let open: Line[] = [];
  /** Lines so far that are not rows of their own. */
  let hidden = 0;
  const recordsOf = (rows: readonly Row[], names: Header): FileRecord[] =>
    rows.flatMap((row) => {
      const [first, last] = [row.lines[0]?.number ?? 0, row.lines.at(-1)?.number ?? 0];
      const place = { line: first, ...(hidden > 0 && { row: first - hidden }) };
      hidden += last - first;
      return recordOf(row, names, place);
    });
  for await (const batch of batches) {
    let lines = [...open, ...batch];
    if (!header) {
      if (EXCEL_SEPARATOR.test(lines[0]?.text?.trim() ?? '')) {
        lines = lines.slice(1);
        hidden = 1;
      }
      header = headerOf(lines[0]?.text ?? '');
      lines = lines.slice(1);
    }
    const table = rowsOf(lines, header, false);
    open = table.open;
    yield recordsOf(table.rows, header);
  }
  if (!header) throw wrongHeader('The file is empty.');
  if (open.length > 0) yield recordsOf(rowsOf(open, header, true).rows, header);
}

/** The columns of the first line. */
function headerOf(text: string): Header {
  if (text.includes('\uFFFD') || text.includes('\0'))
    throw wrongHeader('The file is not UTF-8; save it as "CSV UTF-8".');
  if (text.includes('\r')) throw wrongHeader('The file has no line feeds; save it as "CSV UTF-8".');
  // The names of columns contain none of these characters.
  const delimiter = (/[,;\t]/.exec(text)?.[0] ?? ',') as Delimiter;
  const cells = cellsOf(text, delimiter);
  if (!cells) throw wrongHeader(`The quotes of the first line do not match. ${QUOTES_HELP}`);
  if (cells.length === 1 && text.includes('|'))
    throw wrongHeader('Separate the columns with commas, semicolons or tabs.');
  const columns = cells.map((cell) => {
    const name = cell.trim();
    if (name === '') return undefined;
    if (!isColumn(name)) throw wrongHeader(unknownColumn(name));
    return name;
  });
  const duplicate = columns.find(
    (column, index) => column !== undefined && columns.indexOf(column) !== index,
  );
  if (duplicate !== undefined) throw wrongHeader(`The column "${duplicate}" appears twice.`);
  const missing = REQUIRED_COLUMNS.find((column) => !columns.includes(column));
  if (missing !== undefined) throw wrongHeader(`The column "${missing}" is missing.`);
  return { columns, delimiter };
}

function wrongHeader(reason: string): InvalidRequest {
  return new InvalidRequest(`${reason} The first line names the columns: ${COLUMNS.join(',')}`);
}

/**
 * Divides lines into rows. A row has several lines if a value contains line breaks.
 * @param isEnd whether no lines follow
 * @returns `open`: the last lines, which belong to a row that may continue
 */
function rowsOf(
  lines: readonly Line[],
  header: Header,
  isEnd: boolean,
): { rows: Row[]; open: Line[] } {
  const whole = parsedRows(lines.map(textOf).join('\n'), header.delimiter);
  if (whole?.length === lines.length)
    return { rows: lines.map((line, index) => ({ lines: [line], cells: whole[index] })), open: [] };
  // A value contains a line break, or the quotes of a line do not match.
  const rows: Row[] = [];
  for (let start = 0; start < lines.length;) {
    const row = rowAt(lines, start, header);
    if (!row && !isEnd) return { rows, open: lines.slice(start) };
    rows.push(row ?? { lines: lines.slice(start, start + 1), cells: undefined });
    start += row?.lines.length ?? 1;
  }
  return { rows, open: [] };
}

/** The row that begins with this line; undefined if more lines are needed. */
function rowAt(
  lines: readonly Line[],
  start: number,
  { columns, delimiter }: Header,
): Row | undefined {
  const first = lines.slice(start, start + 1);
  for (let count = 1; count <= MAX_LINES_OF_RECORD; count += 1) {
    if (start + count > lines.length) return undefined;
    const joined = lines.slice(start, start + count);
    const text = joined.map(textOf).join('\n');
    const isOpen = text.split('"').length % 2 === 0;
    const cells = isOpen ? undefined : cellsOf(text, delimiter);
    if (count === 1 && !isOpen) return { lines: first, cells };
    if (cells?.length === columns.length) return { lines: joined, cells };
  }
  return { lines: first, cells: undefined };
}

function recordOf(
  { lines, cells }: Row,
  { columns, delimiter }: Header,
  at: Place,
): FileRecord | [] {
  const text = lines.map(textOf).join('\n');
  const place = { ...at, ...(lines.at(-1)?.isUnterminated && { mayBeCut: true as const }) };
  if (lines.some((line) => line.text === undefined)) return { ...place, problem: TOO_LONG };
  // Spreadsheets fill empty rows with separators.
  if (/^[,;\s]+$/.test(text)) return [];
  if (text.includes('\uFFFD')) return { ...place, problem: INVALID_UTF8 };
  if (!cells) return { ...place, problem: UNMATCHED_QUOTES };
  if (cells.length !== columns.length)
    return { ...place, problem: wrongWidth(cells.length, columns.length, delimiter) };
  const unnamed = cells.find((cell, position) => columns[position] === undefined && cell !== '');
  if (unnamed !== undefined)
    return {
      ...place,
      problem: 'It has a value in a column without a name. Name the column in the first line.',
    };
  return {
    ...place,
    values: Object.fromEntries(
      columns.flatMap((name, position) =>
        name === undefined ? [] : [[name, valueOf(name, cells[position] ?? '', delimiter)]],
      ),
    ),
  };
}

/** Without a comma as separator, a number may have it as decimal separator. */
function valueOf(name: Column, cell: string, delimiter: Delimiter): string {
  return delimiter !== ',' && isNumber(name) ? cell.replace(',', '.') : cell;
}

function wrongWidth(found: number, expected: number, delimiter: Delimiter): string {
  return found < expected
    ? `It has ${found} of ${expected} columns. Is the file complete?`
    : `It has ${found} columns instead of ${expected}. Quote values that contain ${DELIMITERS[delimiter]}.`;
}

function textOf({ text }: Line): string {
  return text ?? '';
}

/** The cells of a text that is one row; undefined for any other text. */
function cellsOf(text: string, delimiter: Delimiter): string[] | undefined {
  const rows = parsedRows(text, delimiter);
  return rows?.length === 1 ? rows[0] : undefined;
}

/** The cells of each row. Returns undefined if quotes do not match. */
function parsedRows(text: string, delimiter: Delimiter): string[][] | undefined {
  try {
    return parseCsv(text, {
      delimiter,
      // Otherwise a carriage return in the first line would become the record delimiter.
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: false,
    });
  } catch {
    return undefined;
  }
}
