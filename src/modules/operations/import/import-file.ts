import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { InvalidRequest } from '../../../platform/errors.js';
import { reasonOf } from '../../../platform/permission-model.js';
import { csvRecords } from './csv-records.js';
import {
  type FileRecord,
  INVALID_UTF8,
  isColumn,
  isNumber,
  type Line,
  MAX_LINE_LENGTH,
  TOO_LONG,
  unknownColumn,
  type Values,
} from './file-record.js';

const BATCH_SIZE = 500;
/** So that the statements of a batch are far smaller than a `max_allowed_packet` of 1 MiB, the smallest of common plans. */
const MAX_BATCH_LENGTH = 200_000;

const NOT_AN_OBJECT = 'It is not a JSON object. Is the file complete?';
const NDJSON_ARRAY =
  "The file is one JSON array. NDJSON has one object per line, without brackets and commas around it. Convert it with: jq -c '.[]' FILE";

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
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: `There is no file ${path}.`,
    EACCES: `Permission to read ${path} is denied.`,
  };
  return new InvalidRequest(reasons[code ?? ''] ?? `${path} cannot be read: ${reasonOf(error)}.`);
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
