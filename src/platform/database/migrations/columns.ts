import type { TableColumnOptions } from 'typeorm';

/** Column types for migrations, as in `database/columns.ts`, and small integers. Never change one, because released migrations use it; add another. */

export function text(name: string, length: number): TableColumnOptions {
  return { name, type: 'varchar', length: String(length) };
}

export function id(name: string): TableColumnOptions {
  return text(name, 40);
}

export function hash(name: string): TableColumnOptions {
  return text(name, 64);
}

export function scope(name: string): TableColumnOptions {
  return text(name, 255);
}

export function url(name: string): TableColumnOptions {
  return text(name, 2048);
}

export function time(name: string): TableColumnOptions {
  return { name, type: 'datetime', precision: 3 };
}

export function longText(name: string): TableColumnOptions {
  return { name, type: 'text' };
}

export function bytes(name: string): TableColumnOptions {
  return { name, type: 'blob' };
}

export function double(name: string): TableColumnOptions {
  return { name, type: 'double' };
}

export function integer(name: string): TableColumnOptions {
  return { name, type: 'integer' };
}

export function smallint(name: string): TableColumnOptions {
  return { name, type: 'smallint' };
}

export function counter(name: string): TableColumnOptions {
  return { name, type: 'integer', default: 0 };
}

export function flag(name: string): TableColumnOptions {
  return { name, type: 'boolean', default: 0 };
}

export function key(column: TableColumnOptions): TableColumnOptions {
  return { ...column, isPrimary: true };
}

export function optional(column: TableColumnOptions): TableColumnOptions {
  return { ...column, isNullable: true };
}
