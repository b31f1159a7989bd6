import { nearestWord } from '../../../common/nearest-word.js';

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
