import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../access/caller.js';
import { Scopes } from '../../access/scopes.decorator.js';
import { idPattern } from '../../common/ids.js';
import { ApiErrors, ApiFaults } from '../../http/api-errors.decorator.js';
import { DeletedResponse } from '../../http/deleted.response.js';
import { IdPipe } from '../../http/id.pipe.js';
import { AcceptsJson } from '../../http/json-body.js';
import { pagingQuery } from '../../http/paging.js';
import { DEV_V1 } from '../../http/routes.js';
import { ApiPostId, PostId } from '../posts/post-id.param.js';
import { CommentNotFound } from './comments.errors.js';
import { CommentsService } from './comments.service.js';
import { CommentPageResponse, CommentResponse } from './dto/comment.response.js';
import { CreateCommentRequest } from './dto/create-comment.request.js';

class ListCommentsQuery extends pagingQuery(100) {}

@ApiTags('comments')
@ApiFaults()
@Controller(DEV_V1)
export class CommentsController {
  constructor(private readonly comments: CommentsService) {}

  @Get('posts/:id/comments')
  @Scopes('posts.read')
  @ApiOperation({
    operationId: 'listComments',
    summary: "List the comments on one of the user's posts, newest first",
  })
  @ApiOkResponse({ type: CommentPageResponse })
  @ApiPostId()
  async listComments(
    @CallerOf() { userId }: Caller,
    @PostId() id: string,
    @Query() paging: ListCommentsQuery,
  ): Promise<CommentPageResponse> {
    const { comments, total } = await this.comments.list(userId, id, paging);
    return CommentPageResponse.from(
      comments.map((comment) => CommentResponse.from(comment)),
      paging,
      total,
    );
  }

  @Post('posts/:id/comments')
  @Scopes('posts.write')
  @AcceptsJson()
  @ApiOperation({ operationId: 'createComment', summary: "Comment on one of the user's posts" })
  @ApiCreatedResponse({ type: CommentResponse })
  @ApiPostId()
  async createComment(
    @CallerOf() { userId }: Caller,
    @PostId() id: string,
    @Body() { text, parentId = null }: CreateCommentRequest,
  ): Promise<CommentResponse> {
    return CommentResponse.from(
      await this.comments.add(userId, id, { text, parentId, authorId: userId }),
    );
  }

  @Delete('comments/:id')
  @Scopes('posts.write')
  @HttpCode(200)
  @ApiOperation({ operationId: 'deleteComment', summary: 'Delete a comment that the user wrote' })
  @ApiOkResponse({ type: DeletedResponse })
  @ApiParam({
    name: 'id',
    description: 'Id of a comment that the user wrote.',
    schema: {
      type: 'string',
      pattern: idPattern('cmt').source,
      example: 'cmt_01kahq5f3veqdr8bn3tdmx3q0a',
    },
  })
  @ApiErrors(CommentNotFound)
  async deleteComment(
    @CallerOf() { userId }: Caller,
    @Param('id', new IdPipe('cmt', () => new CommentNotFound())) id: string,
  ): Promise<DeletedResponse> {
    await this.comments.delete(userId, id);
    return DeletedResponse.of(id);
  }
}
