import type { DataSource } from 'typeorm';
import { useIndex, type Value } from './sql.js';

/** A requested part of a list, newest first. */
export interface Paging {
  /** From 1. */
  page: number;
  /** Maximum items of the page. */
  limit: number;
  /** Id of the item before the page. The page starts after it, and `page` is only a label. */
  before?: string;
}

/** A part of a list without page numbers. */
export type ListPaging = Pick<Paging, 'limit' | 'before'>;

/** Consecutive items of a list. */
export interface Part<T> {
  items: T[];
  /** Whether the list has more items after these. */
  hasMore: boolean;
}

export interface Page<T> extends Part<T> {
  paging: Paging;
  /** Items of the whole list. */
  total: number;
}

/** @param found the items of the part, and one more if the list has more */
export function partOf<T>(found: readonly T[], { limit }: Pick<Paging, 'limit'>): Part<T> {
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}

/** @param found the items of the page, and one more if the list has more */
export function pageOf<T>(found: readonly T[], paging: Paging, total: number): Page<T> {
  return { ...partOf(found, paging), paging, total };
}

/** Up to this offset, the database skips items quickly. */
const MAX_CHEAP_OFFSET = 5000;

/** Whether the offset is so large that counting the list first is worthwhile, to read from its nearer end. */
export function isDeep({ page, limit, before }: Paging): boolean {
  return before === undefined && (page - 1) * limit > MAX_CHEAP_OFFSET;
}

/** Describes a list of rows that are not soft-deleted, newest first. All members are SQL. */
export interface List {
  table: string;
  /** The column with the id of the parent, such as the author of posts. */
  parentColumn: string;
  /**
   * An index on `parentColumn`, `deleted_at` and the id. A page with `before` starts at this id in the index; a page by number
   * skips entries of the index only, not rows. Named explicitly because MySQL and MariaDB sometimes choose the primary key.
   */
  index: string;
  /** The selected columns of the row (`item`) and of `join`. */
  columns: string;
  join?: string;
}

/** SQL for a page of a list and one more row, which shows whether the list has more. */
export class PageStatements {
  private readonly byNumber: string;
  private readonly byNumberFromEnd: string;
  private readonly afterId: string;

  constructor(dataSource: DataSource, { table, parentColumn, index, columns, join = '' }: List) {
    const selectIds = `SELECT id FROM ${table} ${useIndex(dataSource, index)} WHERE ${parentColumn} = ? AND deleted_at IS NULL`;
    // The outer join makes every engine read the page first, then its rows.
    const read = (ids: string): string =>
      `SELECT ${columns} FROM (${ids}) page LEFT JOIN ${table} item ON item.id = page.id ${join} ORDER BY page.id DESC`;
    this.byNumber = read(`${selectIds} ORDER BY id DESC LIMIT ? OFFSET ?`);
    this.byNumberFromEnd = read(`${selectIds} ORDER BY id LIMIT ? OFFSET ?`);
    this.afterId = read(`${selectIds} AND id < ? ORDER BY id DESC LIMIT ?`);
  }

  /**
   * The statement and its values for a page of the list of a parent.
   * @param total the length of the list, if known: then the statement of a deep page reads from the nearer end of the list
   */
  statementFor(
    parentId: string,
    paging: Paging,
    total = Infinity,
  ): [statement: string, values: Value[]] {
    const { page, limit, before } = paging;
    if (before !== undefined) return [this.afterId, [parentId, before, limit + 1]];
    const newerItems = (page - 1) * limit;
    if (!isDeep(paging) || newerItems <= total / 2)
      return [this.byNumber, [parentId, limit + 1, newerItems]];
    const rowCount = Math.max(0, Math.min(limit + 1, total - newerItems));
    const olderItems = Math.max(0, total - newerItems - rowCount);
    return [this.byNumberFromEnd, [parentId, rowCount, olderItems]];
  }
}
