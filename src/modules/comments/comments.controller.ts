import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { LimitWrites } from '../../platform/access/write-limit.js';
import type { Page } from '../../platform/database/list-page.js';
import { ApiErrors, ApiServerErrors } from '../../platform/http/errors/api-errors.js';
import { DeletedResponse, DEV_V1, WRITE_LIMIT_HEADERS } from '../../platform/http/developer-api.js';
import { AcceptsJson } from '../../platform/http/validation/json-body.js';
import { READ_WHOLE_LIST, ReturnsPage, pagingQuery } from '../../platform/http/pagination.js';
import {
  AcceptsIdempotencyKey,
  IdempotencyKeyOf,
  REPLAYED_HEADER,
  setReplayedHeader,
} from '../../platform/http/idempotency/idempotency-key.decorator.js';
import { ApiPostId, POST_ID } from '../posts/post.response.js';
import { CommentNotFound, CommentsService, parentNotOnPost } from './comments.service.js';
import { COMMENT_ID, CommentPageResponse, CommentResponse } from './comment.response.js';
import { CreateCommentRequest } from './create-comment.request.js';

class ListCommentsQuery extends pagingQuery({ idPrefix: 'cmt', maxLimit: 100 }) {}

@ApiTags('comments')
@ApiServerErrors()
@Controller(DEV_V1)
export class CommentsController {
  constructor(private readonly comments: CommentsService) {}

  @Get('posts/:id/comments')
  @Scopes('posts.read')
  @ApiOperation({
    operationId: 'listComments',
    summary: "List the comments on one of the user's posts, newest first",
    description: `The list includes comments of all users, and replies. ${READ_WHOLE_LIST}`,
  })
  @ReturnsPage(CommentPageResponse, {
    path: `/${DEV_V1}/posts/${POST_ID.example}/comments`,
    id: COMMENT_ID.example,
  })
  @ApiPostId()
  async listComments(
    @CallerOf() { userId }: Caller,
    @Param('id') id: string,
    @Query() paging: ListCommentsQuery,
  ): Promise<Page<CommentResponse>> {
    const page = await this.comments.list(userId, id, paging);
    const permalink = this.comments.permalink(id);
    return {
      ...page,
      items: page.items.map((comment) => CommentResponse.from(comment, permalink)),
    };
  }

  @Post('posts/:id/comments')
  @Scopes('posts.write')
  @LimitWrites()
  @AcceptsIdempotencyKey()
  @AcceptsJson({
    errorExample: {
      field: 'text',
      code: 'too_long',
      message: 'text must be at most 2000 characters.',
    },
  })
  @ApiOperation({
    operationId: 'createComment',
    summary: "Create a comment on one of the user's posts",
    description:
      'With `parentId`, the comment is a reply to another comment on the post. With an `Idempotency-Key`, a retry after a lost ' +
      'response does not create the comment again.',
  })
  @ApiCreatedResponse({
    type: CommentResponse,
    headers: { ...REPLAYED_HEADER, ...WRITE_LIMIT_HEADERS },
  })
  @ApiErrors(parentNotOnPost())
  @ApiPostId()
  async createComment(
    @CallerOf() caller: Caller,
    @Param('id') id: string,
    @IdempotencyKeyOf() key: string | undefined,
    @Body() { text, parentId = null }: CreateCommentRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CommentResponse> {
    const draft = { text, parentId };
    const { result, replayed } = await this.comments.create(caller, id, draft, key);
    setReplayedHeader(response, replayed);
    const comment = { ...draft, ...result, createdAt: new Date(result.createdAt) };
    return CommentResponse.from(comment, result.permalink);
  }

  @Delete('comments/:id')
  @Scopes('posts.write')
  @LimitWrites()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'deleteComment',
    summary: 'Delete a comment that the user wrote',
    description:
      'The comment can be on a post of another user, or on a deleted post. Replies to it remain.',
  })
  @ApiOkResponse({
    type: DeletedResponse,
    headers: WRITE_LIMIT_HEADERS,
    example: DeletedResponse.of(COMMENT_ID.example),
  })
  @ApiParam({
    name: 'id',
    description: 'Identifier of a comment that the user wrote.',
    schema: { type: 'string', ...COMMENT_ID },
  })
  @ApiErrors(new CommentNotFound())
  async deleteComment(
    @CallerOf() { userId }: Caller,
    @Param('id') id: string,
  ): Promise<DeletedResponse> {
    await this.comments.delete(userId, id);
    return DeletedResponse.of(id);
  }
}
