import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { PageQuery } from '../paging/page.query.js';
import { PostsService } from '../posts/posts.service.js';
import { Comment } from './comment.entity.js';

@Injectable()
export class CommentsService {
  constructor(
    @InjectRepository(Comment) private readonly comments: Repository<Comment>,
    private readonly posts: PostsService,
  ) {}

  /** A page, newest first, and the total. @throws NotFoundException if the user has no such post */
  async findAll(
    userId: string,
    postId: string,
    { page, limit }: PageQuery,
  ): Promise<[Comment[], number]> {
    await this.posts.assertExists(userId, postId);
    // No `select` here: with it, TypeORM would count the distinct values of the selected columns, and omit rows with a null in one.
    return this.comments.findAndCount({
      where: { postId },
      relations: { author: true },
      order: { id: 'DESC' },
      take: limit,
      skip: (page - 1) * limit,
    });
  }
}
