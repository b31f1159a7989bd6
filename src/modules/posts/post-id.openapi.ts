import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import { ApiErrors } from '../../platform/http/errors/api-errors.js';
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
  example: 'https://example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a',
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
