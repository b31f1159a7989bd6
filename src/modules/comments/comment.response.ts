import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import { PageMeta, type PageResponse } from '../../platform/http/pagination.js';
import { TIME } from '../../platform/http/validation/schemas.openapi.js';
import { PERMALINK } from '../posts/post.response.js';
import type { ListedComment } from './comments.repository.js';

export const COMMENT_ID = {
  pattern: idPattern('cmt').source,
  example: 'cmt_01kahq5f3veqdr8bn3tdmx3q0a',
};

@ApiSchema({ name: 'Author', description: 'Author of a comment.' })
export class AuthorResponse {
  @ApiProperty({
    description: 'Unique identifier of the user.',
    pattern: idPattern('usr').source,
    example: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({
    description: 'Display name, or an empty string if the user no longer exists.',
    example: 'Ben Okafor',
  })
  name: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uri',
    description: "URL of the user's profile photo, or null.",
    example: 'https://example.com/photos/ben.jpg',
  })
  avatar: string | null;
}

@ApiSchema({ name: 'Comment', description: 'A comment on a post.' })
export class CommentResponse {
  @ApiProperty({ description: 'Unique identifier of the comment.', ...COMMENT_ID })
  id: string;

  @ApiProperty({
    description: 'Text of the comment, as it was sent.',
    minLength: 1,
    maxLength: 2000,
    example: 'Count me in!',
  })
  text: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Identifier of the comment that this comment replies to, or null.',
    pattern: idPattern('cmt').source,
    example: null,
  })
  parentId: string | null;

  @ApiProperty()
  author: AuthorResponse;

  @ApiProperty({
    ...TIME,
    description: 'Time at which the comment was created (UTC, with milliseconds).',
  })
  createdAt: string;

  @ApiProperty({ ...PERMALINK, description: 'Public URL of the post that the comment is on.' })
  permalink: string;

  static from(
    { id, text, parentId, author, createdAt }: ListedComment,
    permalink: string,
  ): CommentResponse {
    return {
      id,
      text,
      parentId,
      author: { id: author.id, name: author.name, avatar: author.photoUrl },
      createdAt: createdAt.toISOString(),
      permalink,
    };
  }
}

@ApiSchema({ name: 'CommentPage', description: 'A page of comments, newest first.' })
export class CommentPageResponse implements PageResponse<CommentResponse> {
  @ApiProperty({ type: [CommentResponse], description: 'The comments of the page, newest first.' })
  data: CommentResponse[];

  @ApiProperty()
  meta: PageMeta;
}
