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
  /** The row in a spreadsheet, if it is not `line`, because a cell above it has a line break. */
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
export const MAX_LINE_LENGTH = 32_768;

export const TOO_LONG = `It is longer than ${MAX_LINE_LENGTH} characters.`;
export const INVALID_UTF8 = 'It is not valid UTF-8.';

export function isColumn(name: string): name is Column {
  return COLUMNS.some((column) => column === name);
}

export function unknownColumn(name: string): string {
  const shown = name.slice(0, 40);
  const nearest = nearestWord(shown, COLUMNS);
  const hint =
    nearest === undefined ? `The columns are ${COLUMNS.join(', ')}.` : `Did you mean "${nearest}"?`;
  return `"${shown}" is not a column. ${hint}`;
}

/** Whether NDJSON has a number in this column. */
export function isNumber(name: Column): boolean {
  return name === 'latitude' || name === 'longitude';
}
