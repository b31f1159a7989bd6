import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { LimitWrites } from '../../platform/access/write-limit.js';
import type { Page } from '../../platform/database/list-page.js';
import { ApiErrors, ApiServerErrors } from '../../platform/http/errors/api-errors.js';
import {
  DeletedResponse,
  DEV_V1,
  RATE_LIMIT_HEADERS,
  WRITE_LIMIT_HEADERS,
} from '../../platform/http/developer-api.js';
import { AcceptsJson } from '../../platform/http/validation/json-body.js';
import { READ_WHOLE_LIST, ReturnsPage, pagingQuery } from '../../platform/http/pagination.js';
import { TIME } from '../../platform/http/validation/schemas.openapi.js';
import {
  AcceptsIdempotencyKey,
  IdempotencyKeyOf,
  REPLAYED_HEADER,
  setReplayedHeader,
} from '../../platform/http/idempotency/idempotency-key.decorator.js';
import { QuotaExceeded, QuotaService } from '../quota/quota.service.js';
import { CreatePostRequest } from './create-post.request.js';
import {
  ApiPostId,
  CreatedPostResponse,
  POST_ID,
  PostItemResponse,
  PostPageResponse,
  PostResponse,
} from './post.response.js';
import { PostsService } from './posts.service.js';

class ListPostsQuery extends pagingQuery({ idPrefix: 'post', maxLimit: 50 }) {}

@ApiTags('posts')
@ApiServerErrors()
@Controller(`${DEV_V1}/posts`)
export class PostsController {
  constructor(
    private readonly posts: PostsService,
    private readonly quota: QuotaService,
  ) {}

  @Post()
  @Scopes('posts.write')
  @AcceptsIdempotencyKey()
  @AcceptsJson({
    errorExample: {
      field: 'latitude',
      code: 'too_large',
      message: 'latitude must be at most 90.',
    },
  })
  @ApiOperation({
    operationId: 'createPost',
    summary: 'Publish a post on behalf of the user',
    description:
      'Each post counts against the monthly quota of the app, even if it is deleted later. With an `Idempotency-Key`, a retry ' +
      'after a lost response does not publish the post again.',
  })
  @ApiCreatedResponse({
    type: CreatedPostResponse,
    headers: {
      Location: {
        description: 'Path of the published post.',
        required: true,
        schema: { type: 'string' },
        example: `/${DEV_V1}/posts/${POST_ID.example}`,
      },
      ...REPLAYED_HEADER,
      ...RATE_LIMIT_HEADERS,
    },
  })
  @ApiErrors(new QuotaExceeded(100, new Date(TIME.example)))
  async createPost(
    @CallerOf() caller: Caller,
    @IdempotencyKeyOf() key: string | undefined,
    @Body() request: CreatePostRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedPostResponse> {
    const draft = request.toDraft();
    const { result, replayed } = await this.posts.publish(caller, draft, key);
    response.location(`/${DEV_V1}/posts/${result.id}`);
    response.set(await this.quota.rateLimitHeaders(caller.clientId, caller.postLimit));
    setReplayedHeader(response, replayed);
    const { id, ...added } = result;
    return { id, ...draft, ...added };
  }

  @Get()
  @Scopes('posts.read')
  @ApiOperation({
    operationId: 'listPosts',
    summary: "List the user's posts, newest first",
    description: `The list includes posts of all apps. ${READ_WHOLE_LIST}`,
  })
  @ReturnsPage(PostPageResponse, { path: `/${DEV_V1}/posts`, id: POST_ID.example })
  async listPosts(
    @CallerOf() { userId }: Caller,
    @Query() paging: ListPostsQuery,
  ): Promise<Page<PostItemResponse>> {
    const page = await this.posts.list(userId, paging);
    const items = page.items.map(({ id, content, createdAt }) => ({
      id,
      content,
      permalink: this.posts.permalink(id),
      createdAt: createdAt.toISOString(),
    }));
    return { ...page, items };
  }

  @Get(':id')
  @Scopes('posts.read')
  @ApiOperation({
    operationId: 'getPost',
    summary: "Retrieve one of the user's posts",
    description: 'Posts of other users and deleted posts return 404.',
  })
  @ApiOkResponse({ type: PostResponse })
  @ApiPostId()
  async getPost(@CallerOf() { userId }: Caller, @Param('id') id: string): Promise<PostResponse> {
    const { content, tags, reachKm, visibility, createdAt } = await this.posts.read(userId, id);
    const permalink = this.posts.permalink(id);
    const publishedAt = createdAt.toISOString();
    return { id, content, tags, reachKm, visibility, permalink, createdAt: publishedAt };
  }

  @Delete(':id')
  @Scopes('posts.write')
  @LimitWrites()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'deletePost',
    summary: "Delete one of the user's posts",
    description: 'A deleted post still counts against the quota. Deleting it again returns 404.',
  })
  @ApiOkResponse({ type: DeletedResponse, headers: WRITE_LIMIT_HEADERS })
  @ApiPostId()
  async deletePost(@CallerOf() caller: Caller, @Param('id') id: string): Promise<DeletedResponse> {
    await this.posts.delete(caller, id);
    return DeletedResponse.of(id);
  }
}
