import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { InvalidRequest } from '../common/errors.js';
import type { Page } from '../common/page.js';
import { AppConfig } from '../config/app-config.js';
import { ApiErrors } from './api-errors.decorator.js';
import { LAST_PAGE, type PageResponse } from './paging.js';

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

/** The operation answers a page of a list: its envelope is documented as `type`, and its `Link` header (RFC 8288) with it. */
export function AnswersPage(type: Type<PageResponse<Item>>): MethodDecorator {
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
      oldest && { next: `${numbered(Math.min(page + 1, LAST_PAGE))}&before=${oldest.id}` }),
    ...(pages <= LAST_PAGE && { last: numbered(pages) }),
  };
}
