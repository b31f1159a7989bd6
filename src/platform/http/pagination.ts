import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOkResponse, ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { AppConfig } from '../config/app-config.js';
import type { Page, Paging } from '../database/list-page.js';
import { InvalidRequest } from '../errors.js';
import { idPattern, type IdPrefix } from '../ids.js';
import { EXAMPLE_ORIGIN } from './developer-api.js';
import { ApiErrors } from './errors/api-errors.js';
import * as rules from './validation/rules.js';

/** Maximum page number. */
export const MAX_PAGE = 1_000_000;
export const DEFAULT_PAGE_SIZE = 20;

/** How to read a list, for the descriptions of list operations. Many tools for agents show no response headers. */
export const READ_WHOLE_LIST =
  'To read the whole list, follow `next` of the `Link` header until it is missing. Clients that see only the body send the id ' +
  'of the last item of a page as `before` to get the next one, until a page has fewer items than `meta.limit`. Page numbers ' +
  'can repeat or skip items while the list changes.';

/**
 * The query class of a list endpoint (product requirements, section 8).
 * @param options.idPrefix the prefix of item ids
 * @param options.maxLimit maximum items per page
 */
export function pagingQuery({
  idPrefix,
  maxLimit,
}: {
  idPrefix: IdPrefix;
  maxLimit: number;
}): Type<Paging> {
  class PagingQuery implements Paging {
    @ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE,
      default: 1,
      description:
        'Page to read, from 1. While the list changes, pages read by their number may repeat or skip items; to read each ' +
        'item once, follow `next` of the `Link` header. With `before`, `page` does not select the page, and is only repeated in `meta.page`.',
    })
    @WholeNumber(MAX_PAGE)
    page = 1;

    @ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: maxLimit,
      default: DEFAULT_PAGE_SIZE,
      description: 'Items per page.',
    })
    @WholeNumber(maxLimit)
    limit = DEFAULT_PAGE_SIZE;

    @ApiPropertyOptional({
      pattern: idPattern(idPrefix).source,
      // Without an example, because Swagger UI would send it by default.
      description:
        'Id of an item: the page starts with the item that follows it in the list, the next older one. To read the next page without the `Link` header, send the id of the last item of this page. The item with this id may have been deleted. An empty value counts as absent.',
    })
    @ItemId(idPrefix)
    before?: string;
  }
  return PagingQuery;
}

@ApiSchema({ name: 'PageMeta', description: 'Position of the page in the list.' })
export class PageMeta {
  @ApiProperty({ type: 'integer', example: 1, minimum: 1, description: 'The page, from 1.' })
  page: number;

  @ApiProperty({
    type: 'integer',
    example: DEFAULT_PAGE_SIZE,
    minimum: 1,
    description: 'Maximum number of items per page.',
  })
  limit: number;

  @ApiProperty({
    type: 'integer',
    example: 42,
    minimum: 0,
    description: 'Number of items in the whole list.',
  })
  total: number;
}

/** The envelope of list responses (product requirements, section 2). */
export interface PageResponse<T> {
  data: T[];
  meta: PageMeta;
}

/**
 * A query parameter from 1 to `max`. One decorator, so that the rules are checked in this order and the first violated one is
 * reported: stacked decorators run in reverse.
 */
export function WholeNumber(max: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => parseWholeNumber(value)),
    rules.isNumber('whole number'),
    rules.atLeast(1),
    rules.atMost(max),
  );
}

export function ItemId(prefix: IdPrefix): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_, value) => value !== undefined),
    rules.isText(),
    rules.matching(idPattern(prefix), 'must be the id of an item, exactly as in a response'),
  );
}

/** Parses a whole number. Returns anything else unchanged, so that `isNumber` rejects it. */
function parseWholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value) ? Number(value) : value;
}

interface Item {
  id: string;
}

/** Wraps a page in the envelope and adds the `Link` header. */
@Injectable()
class PageInterceptor implements NestInterceptor<Page<Item>, PageResponse<Item>> {
  constructor(private readonly config: AppConfig) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler<Page<Item>>,
  ): Observable<PageResponse<Item>> {
    const { path } = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((page) => {
        response.links(linksOf(page, `${this.config.publicUrl}${path}`));
        const { items, total, paging } = page;
        return { data: items, meta: { page: paging.page, limit: paging.limit, total } };
      }),
    );
  }
}

/**
 * The operation returns a page of a list: wraps it in the envelope `type`, and documents its `Link` header (RFC 8288).
 * @param example the path of a list, and the id of one of its items
 */
export function ReturnsPage(
  type: Type<PageResponse<Item>>,
  example: { path: string; id: string },
): MethodDecorator {
  const url = EXAMPLE_ORIGIN + example.path;
  return applyDecorators(
    UseInterceptors(PageInterceptor),
    ApiErrors(InvalidRequest.field('limit', 'too_small', 'limit must be at least 1.')),
    ApiOkResponse({
      type,
      headers: {
        Link: {
          description:
            'Addresses of other pages with the same `limit` (RFC 8288): `first`, `prev`, `next` and `last`. There is no ' +
            '`prev` on page 1 and no `next` where the list ends. A client that follows `next` to the end reads each item ' +
            'exactly once, except items that are added or deleted meanwhile.',
          schema: { type: 'string' },
          example:
            `<${url}?page=1&limit=20>; rel="prev", ` +
            `<${url}?page=3&limit=20&before=${example.id}>; rel="next"`,
        },
      },
    }),
  );
}

/** The links of a page by relation. `next` continues after the last item, `prev` and `last` use page numbers, `first` has none. */
function linksOf(
  { items, paging: { page, limit }, total, hasMore }: Page<Item>,
  listUrl: string,
): Record<string, string> {
  const pages = Math.max(1, Math.ceil(total / limit));
  const oldest = items.at(-1);
  const pageUrl = (number: number) => `${listUrl}?page=${number}&limit=${limit}`;
  return {
    first: `${listUrl}?limit=${limit}`,
    ...(page > 1 && { prev: pageUrl(Math.min(page - 1, pages)) }),
    ...(hasMore &&
      oldest && { next: `${pageUrl(Math.min(page + 1, MAX_PAGE))}&before=${oldest.id}` }),
    ...(pages <= MAX_PAGE && { last: pageUrl(pages) }),
  };
}
