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

/** A line of the file: its values, or the reason why it is invalid. */
export type FileRecord = { line: number } & ({ values: Values } | { problem: string });

/** `number` starts at 1. `text` is undefined if the line is too long. */
export interface Line {
  number: number;
  text: string | undefined;
}

/** Characters. Far longer than a valid line. */
const MAX_LINE_LENGTH = 32_768;
const BATCH_SIZE = 500;
/** So that the statements of a batch are far smaller than a `max_allowed_packet` of 1 MiB, the smallest of common plans. */
const MAX_BATCH_LENGTH = 200_000;

const TOO_LONG = `It is longer than ${MAX_LINE_LENGTH} characters.`;
const INVALID_UTF8 = 'It is not valid UTF-8.';
const NOT_AN_OBJECT = 'It is not a JSON object. Is the file complete?';
const QUOTES_HELP = 'Close each quoted value on its line, and double the quotes inside it.';
const UNMATCHED_QUOTES = `Its quotes do not match. ${QUOTES_HELP}`;

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const FORMAT_OF: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
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
  if (rest !== '' || isTooLong) yield [nextLine(rest)];
}

/**
 * Parses CSV (RFC 4180) without line breaks in values, so that a wrong quote invalidates only its own line. The columns may have
 * any order.
 */
async function* csvRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
  let columns: (Column | undefined)[] | undefined;
  for await (const batch of batches) {
    const lines = columns ? batch : batch.slice(1);
    columns ??= headerOf(batch[0]?.text ?? '');
    yield recordsOf(lines, columns);
  }
  if (!columns) throw wrongHeader('The file is empty.');
}

/** The columns of the first line; undefined for one without a name, as spreadsheets add at the end. */
function headerOf(text: string): (Column | undefined)[] {
  if (text.includes('\uFFFD') || text.includes('\0'))
    throw wrongHeader('The file is not UTF-8; save it as "CSV UTF-8".');
  if (text.includes('\r')) throw wrongHeader('The file has no line feeds; save it as "CSV UTF-8".');
  const [cells] = rowsOf([text]) ?? [];
  if (!cells) throw wrongHeader(`The quotes of the first line do not match. ${QUOTES_HELP}`);
  if (cells.length === 1 && /[;\t]/.test(text))
    throw wrongHeader('Separate the columns with commas.');
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
  return columns;
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

function recordsOf(lines: readonly Line[], columns: readonly (Column | undefined)[]): FileRecord[] {
  const rows = rowsOf(lines.map(({ text }) => text ?? ''));
  return lines.flatMap(({ number: line, text }, index): FileRecord | [] => {
    if (text === undefined) return { line, problem: TOO_LONG };
    // Spreadsheets fill empty rows with commas.
    if (/^[,\s]+$/.test(text)) return [];
    if (text.includes('\uFFFD')) return { line, problem: INVALID_UTF8 };
    // If the quotes of one line do not match, the lines are parsed one by one to find that line.
    const cells = rows ? rows[index] : rowsOf([text])?.[0];
    if (!cells) return { line, problem: UNMATCHED_QUOTES };
    if (cells.length !== columns.length) return { line, problem: wrongWidth(cells, columns) };
    const unnamed = cells.find((cell, position) => columns[position] === undefined && cell !== '');
    if (unnamed !== undefined)
      return {
        line,
        problem: 'It has a value in a column without a name. Name the column in the first line.',
      };
    return {
      line,
      values: Object.fromEntries(
        columns.flatMap((name, position) => (name === undefined ? [] : [[name, cells[position]]])),
      ),
    };
  });
}

function wrongWidth(cells: readonly string[], columns: readonly unknown[]): string {
  const [found, expected] = [cells.length, columns.length];
  return found < expected
    ? `It has ${found} of ${expected} columns. Is the file complete?`
    : `It has ${found} columns instead of ${expected}. Quote values that contain commas.`;
}

/** The cells of each line. Returns undefined if the quotes of any line do not match. */
function rowsOf(lines: readonly string[]): string[][] | undefined {
  try {
    const rows = parseCsv(lines.join('\n'), {
      // Otherwise a carriage return in the first line would become the record delimiter.
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: false,
    });
    return rows.length === lines.length ? rows : undefined;
  } catch {
    return undefined;
  }
}

/** Parses one JSON object per line, with the columns as keys. */
async function* ndjsonRecords(batches: AsyncIterable<Line[]>): AsyncGenerator<FileRecord[]> {
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
  const object = parsedObject(text);
  if (!object) return { line, problem: NOT_AN_OBJECT };
  const values: Values = {};
  for (const [name, value] of Object.entries(object)) {
    if (!isColumn(name)) return { line, problem: unknownColumn(name) };
    const type = name === 'latitude' || name === 'longitude' ? 'number' : 'string';
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
