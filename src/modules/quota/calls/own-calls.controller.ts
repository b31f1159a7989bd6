import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, CallerOf } from '../../../platform/access/caller.js';
import { AnyScope } from '../../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ListPaging } from '../../../platform/database/list-page.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { EXAMPLE_ORIGIN } from '../../../platform/http/developer-api.js';
import { ApiErrors, ApiServerErrors } from '../../../platform/http/errors/api-errors.js';
import { DEFAULT_PAGE_SIZE, ItemId, WholeNumber } from '../../../platform/http/pagination.js';
import { TIME } from '../../../platform/http/validation/schemas.openapi.js';
import { idPattern } from '../../../platform/ids.js';
import type { ApiCall } from '../quota.entities.js';
import { OwnCalls, RequestNotFound, REQUESTS } from './own-calls.service.js';

const REQUEST_ID = {
  pattern: idPattern('req').source,
  example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
};
const MAX_LIMIT = 100;

class ListRequestsQuery implements ListPaging {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_PAGE_SIZE,
    description: 'Maximum number of requests.',
  })
  @WholeNumber(MAX_LIMIT)
  limit = DEFAULT_PAGE_SIZE;

  @ApiPropertyOptional({
    pattern: REQUEST_ID.pattern,
    // Without an example, because Swagger UI would send it by default.
    description:
      'Id of a request of the list: the result begins with the next older one. An empty value counts as absent.',
  })
  @ItemId('req')
  before?: string;
}

@ApiSchema({ name: 'Request', description: 'A request that the app sent for the user.' })
export class RequestResponse {
  @ApiProperty({
    ...REQUEST_ID,
    description: 'Id of the request, as in `X-Request-Id` and `request_id`.',
  })
  id: string;

  @ApiProperty({
    ...TIME,
    description: 'Time of the request, or of the post that it published (UTC, with milliseconds).',
  })
  createdAt: string;

  @ApiProperty({ description: 'The method.', minLength: 1, example: 'POST' })
  method: string;

  @ApiProperty({
    description: 'The pattern of the path, without the ids of the request.',
    minLength: 1,
    example: '/dev/v1/posts/:id/comments',
  })
  route: string;

  @ApiProperty({
    type: 'integer',
    minimum: 100,
    maximum: 599,
    description: 'The HTTP status. 499: the connection closed before the response was sent.',
    example: 201,
  })
  status: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The `error` of the response, or null.',
    example: null,
  })
  errorCode: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Milliseconds from the request to its response.',
    example: 12,
  })
  durationMs: number;

  static from(call: ApiCall): RequestResponse {
    const [method = '', route = ''] = call.route.split(' ');
    const { requestId: id, at, status, errorCode, durationMs } = call;
    return { id, createdAt: at.toISOString(), method, route, status, errorCode, durationMs };
  }
}

@ApiSchema({ name: 'RequestListMeta', description: 'The part of the list.' })
export class RequestListMeta {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Maximum number of requests.',
    example: DEFAULT_PAGE_SIZE,
  })
  limit: number;

  @ApiProperty({ description: 'Whether there are older requests.', example: false })
  hasMore: boolean;
}

@ApiSchema({ name: 'RequestList', description: 'Requests, newest first.' })
export class RequestListResponse {
  @ApiProperty({ type: () => [RequestResponse], description: 'The requests, newest first.' })
  data: RequestResponse[];

  @ApiProperty({ type: () => RequestListMeta })
  meta: RequestListMeta;
}

@ApiTags('requests')
@ApiServerErrors()
@Controller(REQUESTS)
export class OwnCallsController {
  constructor(
    private readonly calls: OwnCalls,
    private readonly config: AppConfig,
  ) {}

  @Get()
  @AnyScope()
  @ApiOperation({
    operationId: 'listRequests',
    summary: 'List the requests that the app sent for the user, newest first',
    description:
      'For the search for errors. The list has the requests with a valid access token, without those to this path. A request is ' +
      'listed some seconds after its response. To read the whole list, follow `next` of the `Link` header until it is missing. ' +
      'Clients that see only the body send the id of the last request as `before`, until `meta.hasMore` is false.',
  })
  @ApiErrors(InvalidRequest.field('limit', 'too_small', 'limit must be at least 1.'))
  @ApiOkResponse({
    type: RequestListResponse,
    headers: {
      Link: {
        description:
          'The address of the next older requests as `next` (RFC 8288), if there are any.',
        schema: { type: 'string' },
        example: `<${EXAMPLE_ORIGIN}/${REQUESTS}?limit=20&before=${REQUEST_ID.example}>; rel="next"`,
      },
    },
  })
  async listRequests(
    @CallerOf() caller: Caller,
    @Query() { limit, before }: ListRequestsQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RequestListResponse> {
    const { items, hasMore } = await this.calls.list(caller, { limit, before });
    const data = items.map((call) => RequestResponse.from(call));
    const url = `${this.config.publicUrl}/${REQUESTS}?limit=${limit}&before=${data.at(-1)?.id}`;
    if (hasMore) response.links({ next: url });
    return { data, meta: { limit, hasMore } };
  }

  @Get(':id')
  @AnyScope()
  @ApiOperation({
    operationId: 'getRequest',
    summary: 'Retrieve a request that the app sent for the user',
    description: 'Requests of other apps and for other users return 404.',
  })
  @ApiParam({
    name: 'id',
    description: 'Id of a request of the app for the user.',
    schema: { type: 'string', ...REQUEST_ID },
  })
  @ApiErrors(new RequestNotFound())
  @ApiOkResponse({ type: RequestResponse })
  async getRequest(@CallerOf() caller: Caller, @Param('id') id: string): Promise<RequestResponse> {
    return RequestResponse.from(await this.calls.get(caller, id));
  }
}
