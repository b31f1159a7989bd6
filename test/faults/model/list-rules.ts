import type { Result } from './api-call.js';

/** A paginated list. */
export interface List {
  /** All items, newest first. */
  items: readonly Item[];
  /** Ids of all items that ever existed, oldest first. */
  allIds: readonly string[];
  /** URL without a query. */
  url: string;
}

type Item = Readonly<Record<string, unknown>> & { id: string };

const MAX_PAGES = 1_000_000;

/** Field errors of the query of a list, each `field code`. */
export function queryProblems(query: URLSearchParams, maxItems: number): string[] {
  return [
    ...numberProblems('page', query.get('page'), MAX_PAGES),
    ...numberProblems('limit', query.get('limit'), maxItems),
  ];
}

/** The page of a valid query: by its number, or the items older than `before`. */
export function pageOf({ items, allIds, url }: List, query: URLSearchParams): Result {
  const page = Number(query.get('page') ?? 1);
  const limit = Number(query.get('limit') ?? 20);
  const before = query.get('before');
  const rest =
    before === null
      ? items.slice((page - 1) * limit)
      : items.filter(({ id }) => allIds.indexOf(id) < allIds.indexOf(before));
  const data = rest.slice(0, limit);
  const last = Math.max(1, Math.ceil(items.length / limit));
  const numbered = (number: number): string => `${url}?page=${number}&limit=${limit}`;
  const links = {
    first: `${url}?limit=${limit}`,
    ...(page > 1 && { prev: numbered(Math.min(page - 1, last)) }),
    ...(rest.length > limit && { next: `${numbered(page + 1)}&before=${data.at(-1)?.id}` }),
    last: numbered(last),
  };
  return { status: 200, body: { data, meta: { page, limit, total: items.length } }, links };
}

function numberProblems(name: string, value: string | null, max: number): string[] {
  if (value === null) return [];
  if (!/^(0|[1-9]\d*)$/.test(value)) return [`${name} wrong_type`];
  if (Number(value) < 1) return [`${name} too_small`];
  return Number(value) > max ? [`${name} too_large`] : [];
}
