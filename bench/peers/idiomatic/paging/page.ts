import { siteUrl } from '../settings.js';
import { MAX_PAGE, type PageQuery } from './page.query.js';

/** The response of a list. `total` is the length of the whole list. */
export interface Page<T> {
  data: T[];
  meta: { page: number; limit: number; total: number };
}

export function pageOf<T>(data: T[], { page, limit }: PageQuery, total: number): Page<T> {
  return { data, meta: { page, limit, total } };
}

/** The URLs of the `Link` header by relation. `first` and `last` may be the current page. */
export function linksOf(path: string, { page, limit, total }: Page<unknown>['meta']) {
  const pages = Math.max(1, Math.ceil(total / limit));
  const urlOf = (number: number) => `${siteUrl}${path}?page=${number}&limit=${limit}`;
  return {
    first: `${siteUrl}${path}?limit=${limit}`,
    ...(page > 1 && { prev: urlOf(Math.min(page - 1, pages)) }),
    ...(page < pages && { next: urlOf(page + 1) }),
    ...(pages <= MAX_PAGE && { last: urlOf(pages) }),
  };
}
