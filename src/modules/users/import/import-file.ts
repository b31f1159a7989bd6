import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { InvalidRequest } from '../../../common/errors.js';
import { csvRecords } from './csv-records.js';
import { batchesOfLines } from './lines.js';
import { ndjsonRecords } from './ndjson-records.js';
import type { FileRecord } from './record.js';

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
