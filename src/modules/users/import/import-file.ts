import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { InvalidRequest } from '../../../platform/errors.js';
import { nearestWord } from '../../../platform/text.js';

/** What a file may tell about a user; the first two are required. */
export const COLUMNS = [
  'phone',
  'name',
  'neighborhood',
  'photo_url',
  'latitude',
  'longitude',
] as const;
export type Column = (typeof COLUMNS)[number];
export const REQUIRED: readonly Column[] = ['phone', 'name'];

/** What a line tells of each column that it has, as it was written; an empty text means that there is nothing. */
export type Values = Partial<Record<Column, string>>;

/** A line of the file: what it tells, or the sentence about what is wrong with it. */
export type FileRecord = { line: number } & ({ values: Values } | { problem: string });

export const INVALID_UTF8 = 'It is not valid UTF-8.';
export const TOO_LONG = 'It is too long to be a user.';

/** A column by its name. @throws UnknownColumn */
export function columnNamed(name: string): Column {
  const column = COLUMNS.find((one) => one === name);
  if (column === undefined) throw new UnknownColumn(name);
  return column;
}

/** A name that is no column's, with the one that was probably meant. */
export class UnknownColumn extends Error {
  constructor(name: string) {
    const shown = name.slice(0, 40);
    const nearest = nearestWord(shown, COLUMNS);
    const hint =
      nearest === undefined
        ? `The columns are ${COLUMNS.join(', ')}.`
        : `Did you mean "${nearest}"?`;
    super(`"${shown}" is not a column. ${hint}`);
  }
}

/** A line of a text file; the first is number 1. `text` is undefined when the line is longer than may be held. */
export interface Line {
  number: number;
  text: string | undefined;
}

/** Far more than a user's columns may come to. */
const LONGEST = 32_768;

/**
 * Cuts a byte stream into batches of lines that are not empty, without their ends and without a byte order mark. What is not
 * UTF-8 becomes U+FFFD. However long the file and its lines, little of it is held at once.
 */
export async function* batchesOfLines(
  source: AsyncIterable<string | Buffer>,
  size: number,
): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const lines of numberedLines(source)) {
    for (const line of lines) {
      if (line.text?.trim() === '') continue;
      batch.push(line);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function* numberedLines(source: AsyncIterable<string | Buffer>): AsyncGenerator<Line[]> {
  let rest = '';
  let number = 0;
  let isTooLong = false;
  const lineOf = (text: string): Line => {
    number += 1;
    const kept = isTooLong || text.length > LONGEST ? undefined : text.replace(/\r$/, '');
    isTooLong = false;
    return { number, text: kept };
  };
  for await (const text of decoded(source)) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    yield parts.map(lineOf);
    if (rest.length <= LONGEST) continue;
    isTooLong = true;
    rest = '';
  }
  if (rest !== '' || isTooLong) yield [lineOf(rest)];
}

async function* decoded(source: AsyncIterable<string | Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of source)
    yield decoder.decode(typeof part === 'string' ? Buffer.from(part) : part, { stream: true });
  yield decoder.decode();
}

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
    const rows = parseCsv(lines.join('\n'), {
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

const NO_OBJECT = 'It is not a JSON object; is the file complete?';

/** Reads one JSON object a line, whose members have the names of the columns. @throws InvalidRequest when there is no line */
export async function* ndjsonRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let isEmpty = true;
  for await (const batch of batches) {
    isEmpty = false;
    yield batch.map(recordOf);
  }
  if (isEmpty) throw new InvalidRequest('The file is empty. Each line is a JSON object.');
}

function recordOf({ number: line, text }: Line): FileRecord {
  if (text === undefined) return { line, problem: TOO_LONG };
  if (text.includes('\uFFFD')) return { line, problem: INVALID_UTF8 };
  try {
    return { line, values: valuesOf(JSON.parse(text)) };
  } catch (error) {
    return { line, problem: error instanceof SyntaxError ? NO_OBJECT : (error as Error).message };
  }
}

function valuesOf(object: unknown): Values {
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw new SyntaxError(NO_OBJECT);
  const values: Values = {};
  for (const [name, value] of Object.entries(object)) {
    const column = columnNamed(name);
    const wanted = column === 'latitude' || column === 'longitude' ? 'number' : 'string';
    if (value !== null && typeof value !== wanted) throw new WrongType(column, wanted);
    values[column] = String(value ?? '');
  }
  return values;
}

class WrongType extends Error {
  constructor(column: string, wanted: string) {
    super(`${column}: It must be a ${wanted}.`);
  }
}

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const BATCH = 500;
const CHUNK_BYTES = 65_536;
const FORMAT_OF: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** What a file's name tells about its format; standard input, which has no name, is CSV. */
export function formatOf(path: string): Format | undefined {
  return path === '-' ? 'csv' : FORMAT_OF[extname(path).toLowerCase()];
}

/** A file that is being read, in batches of at most 500 lines. */
export interface ImportFile {
  records: AsyncIterable<FileRecord[]>;
  /** How much of it was read, from 0 to 1, or undefined where its size is not known. */
  partRead: () => number | undefined;
}

/** Opens a file, or `input` for `-`. @throws InvalidRequest when there is no such file, or it cannot be read */
export async function openImportFile(
  path: string,
  format: Format,
  input: AsyncIterable<string | Buffer>,
): Promise<ImportFile> {
  const parse = format === 'csv' ? csvRecords : ndjsonRecords;
  if (path === '-')
    return { records: parse(batchesOfLines(input, BATCH)), partRead: () => undefined };
  const size = await sizeOf(path);
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  return {
    records: parse(batchesOfLines(readable(path, stream), BATCH)),
    partRead: () => (size === 0 ? undefined : Math.min(1, stream.bytesRead / size)),
  };
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (found.isDirectory()) throw new InvalidRequest(`${path} is a directory. Name a file in it.`);
  return found.size;
}

async function* readable(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): InvalidRequest {
  const { code, message } = error as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    ENOENT: `There is no file ${path}.`,
    EACCES: `You may not read ${path}.`,
  };
  return new InvalidRequest(why[code ?? ''] ?? `${path} cannot be read: ${message}.`);
}
