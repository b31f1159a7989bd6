import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { applyDecorators, type Type } from '@nestjs/common';
import * as rules from './rules.js';

const LAST_PAGE = 1_000_000;
const DEFAULT_LIMIT = 20;

/** A page of a list: `page` from 1, `limit` items each. */
export interface Paging {
  page: number;
  limit: number;
}

/** The query of a list endpoint whose pages hold at most `maxLimit` items (source document, section 8). */
export function pagingQuery(maxLimit: number): Type<Paging> {
  class PagingQuery implements Paging {
    @ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: LAST_PAGE,
      default: 1,
      description: 'Page to read, from 1.',
    })
    @WholeNumber(LAST_PAGE)
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
  }
  return PagingQuery;
}

/** Where a page stands in its list. */
export class PageMeta implements Paging {
  @ApiProperty({ type: 'integer', example: 1, minimum: 1 })
  page: number;

  @ApiProperty({ type: 'integer', example: DEFAULT_LIMIT, minimum: 1 })
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
export interface PageOf<T> {
  data: T[];
  meta: PageMeta;
}

export function pageOf<T>(data: T[], { page, limit }: Paging, total: number): PageOf<T> {
  return { data, meta: { page, limit, total } };
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

function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value) ? Number(value) : value;
}
