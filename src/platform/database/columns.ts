import { type ColumnOptions, DefaultNamingStrategy } from 'typeorm';

/** Column types with the same meaning on SQLite, MariaDB and MySQL. Entities use them for all types but small integers. */

/** A TypeID, or another key of the application. */
export const ID = { type: 'varchar', length: 40 } as const satisfies ColumnOptions;

/** A SHA-256 or HMAC-SHA-256 in hex. */
export const HASH = { type: 'varchar', length: 64 } as const satisfies ColumnOptions;

/** A UTC time with milliseconds, from the application's Clock. */
export const TIME = { type: 'datetime', precision: 3 } as const satisfies ColumnOptions;

export const INTEGER = { type: 'integer' } as const satisfies ColumnOptions;

export const COUNTER = { type: 'integer', default: 0 } as const satisfies ColumnOptions;

export const FLAG = { type: 'boolean', default: false } as const satisfies ColumnOptions;

/** Coordinates and distances. Doubles return exactly the number that the client sent. */
export const DOUBLE = { type: 'double' } as const satisfies ColumnOptions;

/** At most 65,535 bytes. */
export const BYTES = { type: 'blob' } as const satisfies ColumnOptions;

export const TEXT = { type: 'text' } as const satisfies ColumnOptions;

/** JSON text, read and written as a whole. */
export const JSON_TEXT = { type: 'simple-json' } as const satisfies ColumnOptions;

/** A space-separated list of scopes in canonical order. */
export const SCOPE = { type: 'varchar', length: 255 } as const satisfies ColumnOptions;

export const URL_TEXT = { type: 'varchar', length: 2048 } as const satisfies ColumnOptions;

/** Text of at most `length` code points. */
export function text(length: number): { type: 'varchar'; length: number } {
  return { type: 'varchar', length };
}

/** The same column, nullable. */
export function optional<T extends ColumnOptions>(column: T): T & { nullable: true } {
  return { ...column, nullable: true };
}

declare const RAW: unique symbol;

/** A TIME column of a raw query: mysql2 returns a Date, SQLite returns UTC text. Opaque, so that all code converts it with `storedTime`. */
export interface RawTime {
  readonly [RAW]: true;
}

export function storedTime(value: RawTime): Date {
  const time: unknown = value;
  return time instanceof Date ? time : new Date(`${String(time).replace(' ', 'T')}Z`);
}

/** A row as the drivers return it. `withDates` converts it. The names of all its times must end in `At`. */
export type Raw<T> = {
  [K in keyof T]: Date extends T[K]
    ? K extends `${string}At`
      ? RawTime | Extract<T[K], null>
      : never
    : T[K];
};

/** Converts the times of a row: the columns whose names end in `At`. */
export function withDates<T extends object>(row: Raw<T>): T {
  const values = Object.entries(row).map(([name, value]) => {
    const isTime = name.endsWith('At') && value !== null;
    return [name, isTime ? storedTime(value as RawTime) : value];
  });
  return Object.fromEntries(values) as T;
}

/** Column names are the property names in snake_case. Entities name their tables and indexes explicitly. */
export class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined): string {
    return customName ?? propertyName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
