import { Exclude, Expose } from 'class-transformer';
import { permalinkOf } from '../../settings.js';
import type { User } from '../../users/user.entity.js';
import type { Comment } from '../comment.entity.js';

/** The public profile of the author of a comment. */
@Exclude()
export class AuthorDto {
  @Expose()
  id: string;

  @Expose()
  name: string;

  @Expose()
  avatar: string | null;

  constructor({ id, name, photoUrl: avatar }: User) {
    Object.assign(this, { id, name, avatar });
  }
}

@Exclude()
export class CommentDto {
  @Expose()
  id: string;

  @Expose()
  text: string;

  @Expose()
  parentId: string | null;

  @Expose()
  author: AuthorDto;

  @Expose()
  createdAt: Date;

  @Expose()
  permalink: string;

  constructor({ id, text, parentId, author, createdAt, postId }: Comment) {
    Object.assign(this, {
      id,
      text,
      parentId,
      author: new AuthorDto(author),
      createdAt,
      permalink: permalinkOf(postId),
    });
  }
}
