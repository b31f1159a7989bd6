import type { ColumnOptions } from 'typeorm';

/** Column types that mean the same on SQLite, MariaDB and MySQL. Every entity spells its columns with these. */

/** A TypeID with its prefix, or any other key made by the application. */
export const ID: ColumnOptions = { type: 'varchar', length: 40 };

/** A SHA-256 or HMAC-SHA-256 in hex. */
export const HASH: ColumnOptions = { type: 'varchar', length: 64 };

/** A moment in UTC with milliseconds, written by the application from its Clock. */
export const TIME: ColumnOptions = { type: 'datetime', precision: 3 };

export const INTEGER: ColumnOptions = { type: 'integer' };

export const COUNTER: ColumnOptions = { type: 'integer', default: 0 };

/** Coordinates and distances: doubles, so that an echo equals what was sent. */
export const DOUBLE: ColumnOptions = { type: 'double' };

export const TEXT: ColumnOptions = { type: 'text' };

/** A list, read and written whole as JSON text. */
export const LIST: ColumnOptions = { type: 'simple-json' };

/** A space-separated list of scopes in canonical order. */
export const SCOPE: ColumnOptions = { type: 'varchar', length: 255 };

export const URL_TEXT: ColumnOptions = { type: 'varchar', length: 2048 };

/** Text of at most `length` code points. */
export function text(length: number): ColumnOptions {
  return { type: 'varchar', length };
}

/** The same column, which may hold NULL. */
export function optional(column: ColumnOptions): ColumnOptions {
  return { ...column, nullable: true };
}
