/** Which part of a list, newest first, is asked for. */
export interface Paging {
  /** From 1. */
  page: number;
  /** Most items of the page. */
  limit: number;
  /** Id of the item that the page follows. The page begins there, and its number is only what the caller counts. */
  before?: string;
}

/** A page of a list, as it was asked for. */
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
const FEW = 5000;

/** Whether so much of the list comes before the page that it is worth while to know first how long the list is. */
export function isDeep({ page, limit, before }: Paging): boolean {
  return before === undefined && (page - 1) * limit > FEW;
}
