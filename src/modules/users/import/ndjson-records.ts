import { InvalidRequest } from '../../../common/errors.js';
import type { Line } from './lines.js';
import { columnNamed, INVALID_UTF8, TOO_LONG, type FileRecord, type Values } from './record.js';

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
