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
import { ApiErrors } from './errors/api-errors.js';
import * as rules from './validation/rules.js';

/** The highest number that a page may have. */
export const MAX_PAGE = 1_000_000;
const DEFAULT_LIMIT = 20;

/**
 * The query of a list endpoint whose items have ids with this prefix, at most `maxLimit` on a page (source document,
 * section 8).
 */
export function pagingQuery(prefix: IdPrefix, maxLimit: number): Type<Paging> {
  class PagingQuery implements Paging {
    @ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE,
      default: 1,
      description:
        'Page to read, from 1. While the list changes, pages read by their number may repeat or skip items; to read each ' +
        'item once, follow `next` of the `Link` header. With `before`, this only labels `meta.page`.',
    })
    @WholeNumber(MAX_PAGE)
    page = 1;

    @ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: maxLimit,
      default: DEFAULT_LIMIT,
      description: 'Items per page.',
    })
    @WholeNumber(maxLimit)
    limit = DEFAULT_LIMIT;

    @ApiPropertyOptional({
      pattern: idPattern(prefix).source,
      // Without an example: Swagger UI would send it, and list what follows an item that nobody has.
      description:
        'Id of an item: read those that follow it in the list, so the older ones. It need not exist any more.',
    })
    @ItemId(prefix)
    before?: string;
  }
  return PagingQuery;
}

/** Where a page stands in its list. */
@ApiSchema({ name: 'PageMeta', description: 'Where the page stands in its list.' })
export class PageMeta {
  @ApiProperty({ type: 'integer', example: 1, minimum: 1, description: 'The page, from 1.' })
  page: number;

  @ApiProperty({
    type: 'integer',
    example: DEFAULT_LIMIT,
    minimum: 1,
    description: 'Most items of a page.',
  })
  limit: number;

  @ApiProperty({
    type: 'integer',
    example: 42,
    minimum: 0,
    description: 'Items of the whole list.',
  })
  total: number;
}

/** A list response of the source document, section 2. */
export interface PageResponse<T> {
  data: T[];
  meta: PageMeta;
}

/** From 1 to `most`. One decorator, since stacked ones would be checked from the last to the first. */
function WholeNumber(most: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => wholeNumber(value)),
    rules.isWholeNumber(),
    rules.atLeast(1),
    rules.atMost(most),
  );
}

function ItemId(prefix: IdPrefix): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_, value) => value !== undefined),
    rules.isText(),
    rules.matching(idPattern(prefix), 'must be the id of an item, exactly as an answer gave it'),
  );
}

function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value) ? Number(value) : value;
}

interface Item {
  id: string;
}

/** Answers a page in the envelope of the source document, section 2, with links to its neighbours. */
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
      map((answered) => {
        response.links(linksOf(answered, `${this.config.publicUrl}${path}`));
        const { items, total, paging } = answered;
        return { data: items, meta: { page: paging.page, limit: paging.limit, total } };
      }),
    );
  }
}

/** Documents an operation that returns a page of a list, with its envelope `type` and its `Link` header (RFC 8288). */
export function ReturnsPage(type: Type<PageResponse<Item>>): MethodDecorator {
  return applyDecorators(
    UseInterceptors(PageInterceptor),
    ApiErrors(InvalidRequest.field('limit', 'too_small', 'limit must be at least 1.')),
    ApiOkResponse({
      type,
      headers: {
        Link: {
          description:
            'Addresses of other pages with the same `limit` (RFC 8288): `first`, `prev`, `next` and `last`. There is no ' +
            '`prev` on page 1 and no `next` where the list ends. Who follows `next` to its end reads each item that is there ' +
            'all the while exactly once, whatever is added or deleted meanwhile.',
          schema: { type: 'string' },
          example:
            '<https://api.example.com/dev/v1/posts?page=1&limit=20>; rel="prev", ' +
            '<https://api.example.com/dev/v1/posts?page=3&limit=20&before=post_01kahq5f3veqdr8bn3tdmx3q0a>; rel="next"',
        },
      },
    }),
  );
}

/** The links of a page by their relation. `next` names the item that it follows, the others name pages by their number. */
function linksOf(
  { items, paging: { page, limit }, total, hasMore }: Page<Item>,
  list: string,
): Record<string, string> {
  const pages = Math.max(1, Math.ceil(total / limit));
  const oldest = items.at(-1);
  const numbered = (number: number) => `${list}?page=${number}&limit=${limit}`;
  return {
    first: `${list}?limit=${limit}`,
    ...(page > 1 && { prev: numbered(Math.min(page - 1, pages)) }),
    ...(hasMore &&
      oldest && { next: `${numbered(Math.min(page + 1, MAX_PAGE))}&before=${oldest.id}` }),
    ...(pages <= MAX_PAGE && { last: numbered(pages) }),
  };
}
