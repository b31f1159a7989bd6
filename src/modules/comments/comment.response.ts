import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import { PageMeta, type PageResponse } from '../../platform/http/pagination.js';
import { TIME } from '../../platform/http/validation/schemas.js';
import { PERMALINK } from '../posts/post-id.param.js';
import type { ListedComment } from './comments.repository.js';

export const COMMENT_ID = {
  pattern: idPattern('cmt').source,
  example: 'cmt_01kahq5f3veqdr8bn3tdmx3q0a',
};

@ApiSchema({ name: 'Author', description: 'Who wrote a comment.' })
export class AuthorResponse {
  @ApiProperty({
    description: 'Id of the member.',
    pattern: idPattern('usr').source,
    example: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({ description: 'Display name.', example: 'Ben Okafor' })
  name: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uri',
    description: 'URL of a picture, or null.',
    example: 'https://example.com/photos/ben.jpg',
  })
  avatar: string | null;
}

@ApiSchema({ name: 'Comment', description: 'A comment on a post.' })
export class CommentResponse {
  @ApiProperty({ description: 'Id of the comment.', ...COMMENT_ID })
  id: string;

  @ApiProperty({
    description: 'What the comment says, as it was sent.',
    minLength: 1,
    maxLength: 2000,
    example: 'Count me in!',
  })
  text: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the comment replied to, or null.',
    pattern: idPattern('cmt').source,
    example: null,
  })
  parentId: string | null;

  @ApiProperty()
  author: AuthorResponse;

  @ApiProperty({ ...TIME, description: 'UTC, with milliseconds.' })
  createdAt: string;

  @ApiProperty({ ...PERMALINK, description: 'URL of the post.' })
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

@ApiSchema({ name: 'CommentPage', description: 'A page of the comments, newest first.' })
export class CommentPageResponse implements PageResponse<CommentResponse> {
  @ApiProperty({ type: [CommentResponse], description: 'Newest first.' })
  data: CommentResponse[];

  @ApiProperty()
  meta: PageMeta;
}
