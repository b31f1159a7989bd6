import { Injectable } from '@nestjs/common';
import { isId } from '../../platform/ids.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { UsersService } from '../users/users.service.js';
import { PostNotFound } from './posts.errors.js';
import { PublicPostsRepository, type ShownPost } from './public-posts.repository.js';

/** A post with the name of its author. */
export interface PublicPost extends ShownPost {
  author: string;
}

/** Public posts as permalinks show them, where no other site does. */
@Injectable()
export class PublicPostsService {
  constructor(
    private readonly repository: PublicPostsRepository,
    private readonly users: UsersService,
    private readonly config: AppConfig,
  ) {}

  /** @throws PostNotFound, also when the post is not public, or permalinks lead to another site */
  async read(id: string): Promise<PublicPost> {
    if (this.config.siteUrl !== this.config.publicUrl) throw new PostNotFound();
    const post = isId('post', id) ? await this.repository.find(id) : null;
    if (!post) throw new PostNotFound();
    const author = await this.users.author(post.userId);
    if (!author) throw new PostNotFound();
    return { ...post, author: author.name };
  }
}
