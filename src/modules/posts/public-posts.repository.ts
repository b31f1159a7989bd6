import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { Post } from './post.entities.js';

const SHOWN = {
  id: true,
  userId: true,
  title: true,
  content: true,
  images: true,
  tags: true,
  neighborhood: true,
  createdAt: true,
} as const;

export type ShownPost = Pick<Post, keyof typeof SHOWN>;

/** Posts for whoever has their address: no query can return one that is not public. */
@Injectable()
export class PublicPostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(id: string): Promise<ShownPost | null> {
    return this.dataSource.manager.findOne(Post, {
      select: SHOWN,
      where: { id, visibility: 'public', deletedAt: IsNull() },
    });
  }
}
