import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CallerOf, type Caller } from '../auth/caller.js';
import { Scopes } from '../auth/scopes.decorator.js';
import { linksOf, pageOf, type Page } from '../paging/page.js';
import { CommentsService } from './comments.service.js';
import { CommentDto } from './dto/comment.dto.js';
import { CreateCommentDto } from './dto/create-comment.dto.js';
import { ListCommentsQuery } from './dto/list-comments.query.js';

@Controller('posts/:id/comments')
export class CommentsController {
  constructor(private readonly comments: CommentsService) {}

  @Post()
  @Scopes('posts.write')
  async create(
    @CallerOf() { user }: Caller,
    @Param('id') postId: string,
    @Body() { text }: CreateCommentDto,
  ): Promise<CommentDto> {
    return new CommentDto(await this.comments.create(user, postId, text));
  }

  @Get()
  @Scopes('posts.read')
  async findAll(
    @CallerOf() { user }: Caller,
    @Param('id') postId: string,
    @Query() query: ListCommentsQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page<CommentDto>> {
    const [comments, total] = await this.comments.findAll(user.id, postId, query);
    const items = comments.map((comment) => new CommentDto(comment));
    const page = pageOf(items, query, total);
    response.links(linksOf(request.path, page.meta));
    return page;
  }
}
