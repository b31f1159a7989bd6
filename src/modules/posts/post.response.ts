import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { PageMeta, type PageResponse } from '../../platform/http/pagination.js';
import { TIME } from '../../platform/http/validation/schemas.openapi.js';
import type { PostDraft } from './create-post.request.js';
import type { Visibility } from './post.entities.js';
import { PERMALINK, POST_ID } from './post-id.openapi.js';

// The published document has the members in this order.
const ID = { description: POST_ID.description, example: POST_ID.example, pattern: POST_ID.pattern };
const CONTENT = {
  type: String,
  nullable: true,
  description: 'Body text, or null.',
  example: 'Bring a chair and something to share.',
};
const CREATED_AT = {
  ...TIME,
  description: 'Time at which the post was published (UTC, with milliseconds).',
};
const VISIBILITY = {
  pattern: '^[a-z][a-z_]*$',
  description: 'Who can see the post: public, neighborhood or private. New values may be added.',
  example: 'public',
};

@ApiSchema({ name: 'PostItem', description: 'A post in a list.' })
export class PostItemResponse {
  @ApiProperty(ID)
  id: string;

  @ApiProperty(CONTENT)
  content: string | null;

  @ApiProperty(PERMALINK)
  permalink: string;

  @ApiProperty(CREATED_AT)
  createdAt: string;
}

@ApiSchema({ name: 'Post', description: "One of the user's posts." })
export class PostResponse {
  @ApiProperty(ID)
  id: string;

  @ApiProperty(CONTENT)
  content: string | null;

  @ApiProperty({
    type: [String],
    description: 'Topic tags, as sent.',
    example: ['party', 'Saturday'],
  })
  tags: string[];

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Reach of the post in kilometres, or null.',
    example: 2.5,
  })
  reachKm: number | null;

  @ApiProperty({ type: String, ...VISIBILITY })
  visibility: Visibility;

  @ApiProperty(PERMALINK)
  permalink: string;

  @ApiProperty(CREATED_AT)
  createdAt: string;
}

@ApiSchema({
  name: 'CreatedPost',
  description: 'The published post: the fields of the request, and those that the server added.',
})
export class CreatedPostResponse implements PostDraft {
  @ApiProperty(ID)
  id: string;

  @ApiPropertyOptional({ description: 'Headline.', example: 'Block party on Saturday' })
  title?: string;

  @ApiPropertyOptional({
    description: 'Body text.',
    example: 'Bring a chair and something to share.',
  })
  content?: string;

  @ApiPropertyOptional({ description: 'Category.', example: 'event' })
  type?: string;

  @ApiPropertyOptional({
    type: [String],
    description: 'Image URLs.',
    example: ['https://example.com/party.jpg'],
  })
  images?: string[];

  @ApiPropertyOptional({
    type: [String],
    description: 'Topic tags.',
    example: ['party', 'Saturday'],
  })
  tags?: string[];

  @ApiPropertyOptional({ description: 'Latitude of the post.', example: 37.7749 })
  latitude?: number;

  @ApiPropertyOptional({ description: 'Longitude of the post.', example: -122.4194 })
  longitude?: number;

  @ApiPropertyOptional({ description: 'Reach of the post in kilometres.', example: 2.5 })
  reachKm?: number;

  @ApiPropertyOptional({ type: String, ...VISIBILITY })
  visibility?: Visibility;

  @ApiProperty(PERMALINK)
  permalink: string;

  @ApiProperty(CREATED_AT)
  createdAt: string;
}

@ApiSchema({ name: 'PostPage', description: "A page of the user's posts, newest first." })
export class PostPageResponse implements PageResponse<PostItemResponse> {
  @ApiProperty({ type: [PostItemResponse], description: 'The posts of the page, newest first.' })
  data: PostItemResponse[];

  @ApiProperty()
  meta: PageMeta;
}
