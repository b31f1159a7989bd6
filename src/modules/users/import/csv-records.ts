import { parse } from 'csv-parse/sync';
import { InvalidRequest } from '../../../common/errors.js';
import type { Line } from './lines.js';
import {
  columnNamed,
  COLUMNS,
  INVALID_UTF8,
  REQUIRED,
  TOO_LONG,
  UnknownColumn,
  type Column,
  type FileRecord,
} from './record.js';

const QUOTES =
  'Its quotes do not match. A quoted value ends on its line, and a quote in it is doubled.';

/**
 * Reads CSV (RFC 4180) whose values are on one line, so that a wrong quote spoils one line and not the rest of the file. The
 * header's columns may come in any order.
 * @throws InvalidRequest when the first line is no header
 */
export async function* csvRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let columns: Column[] | undefined;
  for await (const batch of batches) {
    const [first] = batch;
    const isFirst = columns === undefined;
    columns ??= headerOf(first);
    yield recordsOf(isFirst ? batch.slice(1) : batch, columns);
  }
  if (columns === undefined) throw wrongHeader('The file is empty.');
}

function headerOf(line: Line | undefined): Column[] {
  const text = line?.text ?? '';
  if (text.includes('\uFFFD') || text.includes('\0'))
    throw wrongHeader('The file is not UTF-8: save it as "CSV UTF-8".');
  if (text.includes('\r')) throw wrongHeader('Its lines do not end: save it as "CSV UTF-8".');
  const [cells] = rowsOf([text]) ?? [];
  if (!cells) throw wrongHeader(QUOTES);
  if (cells.length === 1 && /[;\t]/.test(text))
    throw wrongHeader('Separate the columns by commas.');
  const columns = cells.map((cell) => knownColumn(cell.trim()));
  const twice = columns.find((column, place) => columns.indexOf(column) !== place);
  if (twice !== undefined) throw wrongHeader(`The column "${twice}" is there twice.`);
  const missing = REQUIRED.find((column) => !columns.includes(column));
  if (missing !== undefined) throw wrongHeader(`The column "${missing}" is missing.`);
  return columns;
}

function knownColumn(name: string): Column {
  try {
    return columnNamed(name);
  } catch (error) {
    throw error instanceof UnknownColumn ? wrongHeader(error.message) : error;
  }
}

function wrongHeader(why: string): InvalidRequest {
  return new InvalidRequest(`${why} The first line names the columns: ${COLUMNS.join(',')}`);
}

function recordsOf(lines: readonly Line[], columns: readonly Column[]): FileRecord[] {
  const texts = lines.map(({ text }) => text ?? '');
  const rows = rowsOf(texts);
  return lines.map(({ number: line, text }, place) => {
    if (text === undefined) return { line, problem: TOO_LONG };
    if (text.includes('\uFFFD')) return { line, problem: INVALID_UTF8 };
    const cells = rows ? rows[place] : rowsOf([text])?.[0];
    if (!cells) return { line, problem: QUOTES };
    if (cells.length !== columns.length) return { line, problem: wrongWidth(cells, columns) };
    return { line, values: Object.fromEntries(columns.map((name, at) => [name, cells[at]])) };
  });
}

function wrongWidth(cells: readonly string[], columns: readonly Column[]): string {
  const found = `It has ${cells.length} of ${columns.length} columns`;
  return cells.length < columns.length
    ? `${found}; is the file complete?`
    : `${found}; a value with a comma needs quotes.`;
}

/** The cells of each line, or undefined when a quote of some line does not match. */
function rowsOf(lines: readonly string[]): string[][] | undefined {
  try {
    const rows = parse(lines.join('\n'), {
      // It would take a stray carriage return in the first line for the end of every line.
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: false,
    });
    return rows.length === lines.length ? rows : undefined;
  } catch {
    return undefined;
  }
}
