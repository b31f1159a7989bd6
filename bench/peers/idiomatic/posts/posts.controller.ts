import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CallerOf, type Caller } from '../auth/caller.js';
import { Scopes } from '../auth/scopes.decorator.js';
import { linksOf, pageOf, type Page } from '../paging/page.js';
import { QuotaService } from '../quota/quota.service.js';
import { CreatePostDto } from './dto/create-post.dto.js';
import { ListPostsQuery } from './dto/list-posts.query.js';
import { PostDto, PostItemDto, type CreatedPost } from './dto/post.dto.js';
import { PostsService } from './posts.service.js';

@Controller('posts')
export class PostsController {
  constructor(
    private readonly posts: PostsService,
    private readonly quota: QuotaService,
  ) {}

  @Post()
  @Scopes('posts.write')
  async create(
    @CallerOf() caller: Caller,
    @Body() dto: CreatePostDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedPost> {
    const created = await this.posts.create(caller, dto, request);
    response.location(`/dev/v1/posts/${created.id}`);
    response.set(await this.quota.headers(caller.app));
    return created;
  }

  @Get()
  @Scopes('posts.read')
  async findAll(
    @CallerOf() { user }: Caller,
    @Query() query: ListPostsQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page<PostItemDto>> {
    const [posts, total] = await this.posts.findAll(user.id, query);
    const items = posts.map((post) => new PostItemDto(post));
    const page = pageOf(items, query, total);
    response.links(linksOf(request.path, page.meta));
    return page;
  }

  @Get(':id')
  @Scopes('posts.read')
  async findOne(@CallerOf() { user }: Caller, @Param('id') id: string): Promise<PostDto> {
    return new PostDto(await this.posts.findOne(user.id, id));
  }

  @Delete(':id')
  @Scopes('posts.write')
  async remove(
    @CallerOf() { user }: Caller,
    @Param('id') id: string,
  ): Promise<{ id: string; deleted: true }> {
    await this.posts.remove(user.id, id);
    return { id, deleted: true };
  }
}
