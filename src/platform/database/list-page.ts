import type { DataSource } from 'typeorm';
import { useIndex, type Value } from './sql.js';

/** A requested part of a list, newest first. */
export interface Paging {
  /** From 1. */
  page: number;
  /** Most items of the page. */
  limit: number;
  /** Id of the item that the page follows. The page begins there, and its number is only what the caller counts. */
  before?: string;
}

export interface Page<T> {
  items: T[];
  paging: Paging;
  /** Items of the whole list. */
  total: number;
  /** Whether the list goes on after this page. */
  hasMore: boolean;
}

/** Makes a page of what was found for it, which is one item too many when the list goes on. */
export function pageOf<T>(found: readonly T[], paging: Paging, total: number): Page<T> {
  const { limit } = paging;
  return { items: found.slice(0, limit), paging, total, hasMore: found.length > limit };
}

/** Items that are skipped in no time. */
const MAX_CHEAP_OFFSET = 5000;

/** Whether so much of the list comes before the page that it is worth while to know first how long the list is. */
export function isDeep({ page, limit, before }: Paging): boolean {
  return before === undefined && (page - 1) * limit > MAX_CHEAP_OFFSET;
}

/** A list of rows that are not marked as deleted, newest first. All of it is SQL. */
export interface List {
  table: string;
  /** The column that identifies the list of a row. */
  owner: string;
  /**
   * An index of `owner`, `deleted_at` and the id: a page after an id starts there, and one by its number skips entries of the
   * index alone. It is named because MySQL and MariaDB would rather walk the primary key, or the list from its top.
   */
  index: string;
  /** The columns to read of the row (`item`) and of `join`. */
  columns: string;
  join?: string;
}

/** The statements that read a page of a list and one row more, which shows that the list goes on. */
export class PageStatements {
  private readonly byNumber: string;
  private readonly byNumberFromEnd: string;
  private readonly afterId: string;

  constructor(dataSource: DataSource, { table, owner, index, columns, join = '' }: List) {
    const onList = `SELECT id FROM ${table} ${useIndex(dataSource, index)} WHERE ${owner} = ? AND deleted_at IS NULL`;
    // An outer join keeps every engine from beginning with the rows, to look for each whether it is on the page.
    const read = (ids: string): string =>
      `SELECT ${columns} FROM (${ids}) page LEFT JOIN ${table} item ON item.id = page.id ${join} ORDER BY page.id DESC`;
    this.byNumber = read(`${onList} ORDER BY id DESC LIMIT ? OFFSET ?`);
    this.byNumberFromEnd = read(`${onList} ORDER BY id LIMIT ? OFFSET ?`);
    this.afterId = read(`${onList} AND id < ? ORDER BY id DESC LIMIT ?`);
  }

  /**
   * The statement for a page of the list of `owner`, and the values of its placeholders.
   * @param total how many rows the list has, where that is known: then no more than half of them are skipped
   */
  of(owner: string, paging: Paging, total = Infinity): [statement: string, values: Value[]] {
    const { page, limit, before } = paging;
    if (before !== undefined) return [this.afterId, [owner, before, limit + 1]];
    const newer = (page - 1) * limit;
    if (!isDeep(paging) || newer <= total / 2) return [this.byNumber, [owner, limit + 1, newer]];
    const rows = Math.max(0, Math.min(limit + 1, total - newer));
    return [this.byNumberFromEnd, [owner, rows, Math.max(0, total - newer - rows)]];
  }
}
