import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import { ApiErrors } from '../../platform/http/errors/api-errors.js';
import { PostNotFound } from './posts.service.js';

/** Documents the post id in the path, and the error for an unknown post. */
export const ApiPostId = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'id',
      description: "Id of one of the user's own posts.",
      schema: {
        type: 'string',
        pattern: idPattern('post').source,
        example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
      },
    }),
    ApiErrors(new PostNotFound()),
  );
