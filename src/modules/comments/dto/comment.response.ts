import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../../common/ids.js';
import { PageMeta, type PageResponse } from '../../../http/paging.js';
import type { AuthoredComment } from '../comments.service.js';

@ApiSchema({ name: 'Author', description: 'Who wrote a comment.' })
export class AuthorResponse {
  @ApiProperty({ pattern: idPattern('usr').source, example: 'usr_01kahq5f3veqdr8bn3tdmx3q0a' })
  id: string;

  @ApiProperty({ example: 'Ben Okafor' })
  name: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uri',
    example: 'https://example.com/photos/ben.jpg',
  })
  avatar: string | null;
}

@ApiSchema({ name: 'Comment' })
export class CommentResponse {
  @ApiProperty({ pattern: idPattern('cmt').source, example: 'cmt_01kahq5f3veqdr8bn3tdmx3q0a' })
  id: string;

  @ApiProperty({ minLength: 1, maxLength: 2000, example: 'Count me in!' })
  text: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The comment replied to, or null.',
    example: null,
  })
  parentId: string | null;

  @ApiProperty()
  author: AuthorResponse;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  createdAt: string;

  @ApiProperty({
    format: 'uri',
    description: 'URL of the post.',
    example: 'https://example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  permalink: string;

  static from({
    id,
    text,
    parentId,
    author,
    createdAt,
    permalink,
  }: AuthoredComment): CommentResponse {
    const { photoUrl: avatar } = author;
    return {
      id,
      text,
      parentId,
      author: { id: author.id, name: author.name, avatar },
      createdAt: createdAt.toISOString(),
      permalink,
    };
  }
}

@ApiSchema({ name: 'CommentPage' })
export class CommentPageResponse implements PageResponse<CommentResponse> {
  @ApiProperty({ type: [CommentResponse], description: 'Newest first.' })
  data: CommentResponse[];

  @ApiProperty()
  meta: PageMeta;
}
