import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { ApiErrors } from '../../platform/http/errors/api-errors.js';
import { EXAMPLE_ORIGIN } from '../../platform/http/developer-api.js';
import { idPattern } from '../../platform/ids.js';
import { PageMeta, type PageResponse } from '../../platform/http/pagination.js';
import { DOUBLE, TIME } from '../../platform/http/validation/schemas.openapi.js';
import type { PostDraft } from './create-post.request.js';
import type { Visibility } from './post.entities.js';
import { PostNotFound } from './posts.service.js';

const ID = {
  pattern: idPattern('post').source,
  example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
};

/** OpenAPI schemas of the fields `id` and `permalink` in responses about posts. */
export const POST_ID = { description: 'Unique identifier of the post.', ...ID };
export const PERMALINK = {
  format: 'uri',
  description: 'Public URL of the post.',
  example: `${EXAMPLE_ORIGIN}/post/${ID.example}`,
};

/** Documents the path parameter `id`, and the 404 if the user has no post with this id. */
export const ApiPostId = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'id',
      description: "Identifier of one of the user's posts.",
      schema: { type: 'string', ...ID },
    }),
    ApiErrors(new PostNotFound()),
  );

// The published document has the members in this order.
const ID_OF_RESPONSE = {
  description: POST_ID.description,
  example: ID.example,
  pattern: ID.pattern,
};
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

@ApiSchema({ name: 'Post', description: "One of the user's posts." })
export class PostResponse {
  @ApiProperty(ID_OF_RESPONSE)
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
    ...DOUBLE,
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

// Without PickType, which would load class-validator a second time, from outside of the bundle.
@ApiSchema({ name: 'PostItem', description: 'A post in a list.' })
export class PostItemResponse {
  @ApiProperty(ID_OF_RESPONSE)
  id: string;

  @ApiProperty(CONTENT)
  content: string | null;

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
  @ApiProperty(ID_OF_RESPONSE)
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

  @ApiPropertyOptional({ ...DOUBLE, description: 'Latitude of the post.', example: 37.7749 })
  latitude?: number;

  @ApiPropertyOptional({ ...DOUBLE, description: 'Longitude of the post.', example: -122.4194 })
  longitude?: number;

  @ApiPropertyOptional({ ...DOUBLE, description: 'Reach of the post in kilometres.', example: 2.5 })
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
