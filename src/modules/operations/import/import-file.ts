import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { InvalidRequest } from '../../../platform/errors.js';
import { nearestWord } from '../../../platform/text.js';

export const COLUMNS = [
  'phone',
  'name',
  'external_id',
  'neighborhood',
  'photo_url',
  'latitude',
  'longitude',
] as const;
export type Column = (typeof COLUMNS)[number];
export const REQUIRED_COLUMNS: readonly Column[] = ['phone', 'name'];

/** The text of each column in one line. An empty text clears an optional field of the user. */
export type Values = Partial<Record<Column, string>>;

/** Where a record of the file is. Both start at 1. */
export interface Place {
  /** The first line of the record. */
  line: number;
  /** The row in a spreadsheet, if it is not `line`: a cell above it has a line break. */
  row?: number;
}

/** Such as `line 7`, or `line 7 (row 5)`. */
export function placeName({ line, row }: Place): string {
  return row === undefined ? `line ${line}` : `line ${line} (row ${row})`;
}

/** A record of the file: its values, or the reason why it is invalid. */
export type FileRecord = Place & {
  /** Whether the file may end within this record: it is the last one and has no line feed. */
  mayBeCut?: true;
} & ({ values: Values } | { problem: string });

/** `number` starts at 1. `text` is undefined if the line is too long. */
export interface Line {
  number: number;
  text: string | undefined;
  /** Whether it is the last line and has no line feed. */
  isUnterminated?: true;
}

/** Characters. Far longer than a valid line. */
const MAX_LINE_LENGTH = 32_768;
const BATCH_SIZE = 500;
/** After so many lines, an open quote is a mistake in its first line, not a line break in a value. */
const MAX_LINES_OF_RECORD = 20;
/** So that the statements of a batch are far smaller than a `max_allowed_packet` of 1 MiB, the smallest of common plans. */
const MAX_BATCH_LENGTH = 200_000;

const TOO_LONG = `It is longer than ${MAX_LINE_LENGTH} characters.`;
const INVALID_UTF8 = 'It is not valid UTF-8.';
const NOT_AN_OBJECT = 'It is not a JSON object. Is the file complete?';
const NDJSON_ARRAY =
  "The file is one JSON array. NDJSON has one object per line, without brackets and commas around it. Convert it with: jq -c '.[]' FILE";
const QUOTES_HELP = 'Close each quoted value, and double the quotes inside it.';
const UNMATCHED_QUOTES = `Its quotes do not match. ${QUOTES_HELP}`;

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const FORMAT_OF: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** The format by file extension; undefined for an unknown extension. `-` is standard input: CSV by default. */
export function formatOf(path: string): Format | undefined {
  return path === '-' ? 'csv' : FORMAT_OF[extname(path).toLowerCase()];
}

export interface ImportFile {
  /** In batches of at most 500 lines. */
  records: AsyncIterable<FileRecord[]>;
  /** The fraction of the file that was read, from 0 to 1; undefined if the size is not known. */
  progress: () => number | undefined;
}

/** Opens the file, or reads `input` if `path` is `-`. @throws InvalidRequest if the file cannot be read */
export async function openImportFile(
  path: string,
  format: Format,
  input: AsyncIterable<string | Buffer>,
): Promise<ImportFile> {
  const parse = format === 'csv' ? csvRecords : ndjsonRecords;
  if (path === '-')
    return { records: parse(batchesOfLines(input, BATCH_SIZE)), progress: () => undefined };
  const stream = createReadStream(path);
  const [found] = await Promise.all([stat(path), once(stream, 'open')]).catch((error: unknown) => {
    throw readError(path, error);
  });
  if (found.isDirectory()) throw new InvalidRequest(`${path} is a directory. Name a file in it.`);
  return {
    records: parse(batchesOfLines(chunksOf(path, stream), BATCH_SIZE)),
    progress: () => (found.size === 0 ? undefined : Math.min(1, stream.bytesRead / found.size)),
  };
}

/** The chunks of the file. @throws InvalidRequest if the file cannot be read */
async function* chunksOf(path: string, stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw readError(path, error);
  }
}

function readError(path: string, error: unknown): InvalidRequest {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: `There is no file ${path}.`,
    EACCES: `Permission to read ${path} is denied.`,
  };
  return new InvalidRequest(reasons[code ?? ''] ?? `${path} cannot be read: ${message}.`);
}

/**
 * Splits a byte stream into batches of non-blank lines, without line endings and byte order mark. Invalid UTF-8 becomes U+FFFD.
 * Lines that are too long are not buffered.
 */
export async function* batchesOfLines(
  source: AsyncIterable<string | Buffer>,
  batchSize: number,
): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let length = 0;
  for await (const lines of numberedLines(source)) {
    for (const line of lines) {
      if (line.text?.trim() === '') continue;
      batch.push(line);
      length += line.text?.length ?? 0;
      if (batch.length < batchSize && length < MAX_BATCH_LENGTH) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function* numberedLines(source: AsyncIterable<string | Buffer>): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder();
  let rest = '';
  let number = 0;
  let isTooLong = false;
  const nextLine = (content: string): Line => {
    number += 1;
    const fits = !isTooLong && content.length <= MAX_LINE_LENGTH;
    isTooLong = false;
    return { number, text: fits ? content.replace(/\r$/, '') : undefined };
  };
  for await (const chunk of source) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield parts.map(nextLine);
    if (rest.length <= MAX_LINE_LENGTH) continue;
    isTooLong = true;
    rest = '';
  }
  rest += decoder.decode();
  if (rest !== '' || isTooLong) yield [{ ...nextLine(rest), isUnterminated: true }];
}

interface Header {
  /** Undefined for a column without a name, as spreadsheets add at the end. */
  columns: readonly (Column | undefined)[];
  delimiter: Delimiter;
}

/** Excel separates columns by semicolons where the decimal separator is a comma, as in German and Spanish. */
const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
type Delimiter = keyof typeof DELIMITERS;

/** Tells Excel the separator. */
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
async function* csvRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let header: Header | undefined;
  let open: Line[] = [];
  /** Line breaks within rows so far. */
  let breaks = 0;
  const recordsOf = (rows: readonly Row[], { columns, delimiter }: Header): FileRecord[] =>
    rows.flatMap((row) => {
      const [first, last] = [row.lines[0]?.number ?? 0, row.lines.at(-1)?.number ?? 0];
      const place = { line: first, ...(breaks > 0 && { row: first - breaks }) };
      breaks += last - first;
      return recordOf(row, { columns, delimiter }, place);
    });
  for await (const batch of batches) {
    let lines = [...open, ...batch];
    if (!header) {
      if (EXCEL_SEPARATOR.test(lines[0]?.text?.trim() ?? '')) lines = lines.slice(1);
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

function isColumn(name: string): name is Column {
  return COLUMNS.some((column) => column === name);
}

function unknownColumn(name: string): string {
  const shown = name.slice(0, 40);
  const nearest = nearestWord(shown, COLUMNS);
  const hint =
    nearest === undefined ? `The columns are ${COLUMNS.join(', ')}.` : `Did you mean "${nearest}"?`;
  return `"${shown}" is not a column. ${hint}`;
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
  for (let start = 0; start < lines.length; ) {
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

function isNumber(name: Column): boolean {
  return name === 'latitude' || name === 'longitude';
}

/** Parses one JSON object per line, with the columns as keys. */
async function* ndjsonRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let isEmpty = true;
  for await (const batch of batches) {
    if (isEmpty && batch[0]?.text?.trimStart().startsWith('['))
      throw new InvalidRequest(NDJSON_ARRAY);
    isEmpty = false;
    yield batch.map(objectRecord);
  }
  if (isEmpty) throw new InvalidRequest('The file is empty. Each line is a JSON object.');
}

function objectRecord({ number: line, text }: Line): FileRecord {
  if (text === undefined) return { line, problem: TOO_LONG };
  if (text.includes('\uFFFD')) return { line, problem: INVALID_UTF8 };
  const object = parsedObject(text);
  if (!object) return { line, problem: NOT_AN_OBJECT };
  const values: Values = {};
  for (const [name, value] of Object.entries(object)) {
    if (!isColumn(name)) return { line, problem: unknownColumn(name) };
    const type = isNumber(name) ? 'number' : 'string';
    if (value !== null && typeof value !== type)
      return { line, problem: `${name} must be a ${type}.` };
    values[name] = String(value ?? '');
  }
  return { line, values };
}

function parsedObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
