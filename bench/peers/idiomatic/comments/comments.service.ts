import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, IsNull, Repository } from 'typeorm';
import { newId } from '../../../../src/platform/ids.js';
import type { PageQuery } from '../paging/page.query.js';
import { Post } from '../posts/post.entity.js';
import { PostsService } from '../posts/posts.service.js';
import type { User } from '../users/user.entity.js';
import { Comment } from './comment.entity.js';

@Injectable()
export class CommentsService {
  constructor(
    @InjectRepository(Comment) private readonly comments: Repository<Comment>,
    private readonly posts: PostsService,
    private readonly dataSource: DataSource,
  ) {}

  /** Adds a comment to a post of its author. @throws NotFoundException if the author has no such post */
  async create(author: User, postId: string, text: string): Promise<Comment> {
    const createdAt = new Date();
    const id = newId('cmt', createdAt);
    const comment = this.comments.create({ id, postId, author, parentId: null, text, createdAt });
    await this.dataSource.transaction(async (manager) => {
      const post = { id: postId, userId: author.id, deletedAt: IsNull() };
      const { affected } = await manager.increment(Post, post, 'commentCount', 1);
      if (affected !== 1) throw new NotFoundException();
      // Unlike this, `manager.insert` would read `deletedAt` back from the database.
      await manager
        .createQueryBuilder()
        .insert()
        .into(Comment)
        .values(comment)
        .updateEntity(false)
        .execute();
    });
    return comment;
  }

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
