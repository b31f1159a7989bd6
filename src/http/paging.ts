import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import { applyDecorators, type Type } from '@nestjs/common';
import { idPattern, type IdPrefix } from '../common/ids.js';
import type { Paging } from '../common/page.js';
import * as rules from './rules.js';

/** The highest number that a page may have. */
export const LAST_PAGE = 1_000_000;
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
      maximum: LAST_PAGE,
      default: 1,
      description:
        'Page to read, from 1. While the list changes, pages read by their number may repeat or skip items; to read each ' +
        'item once, follow `next` of the `Link` header. With `before`, this only labels `meta.page`.',
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
