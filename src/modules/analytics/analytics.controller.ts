import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { ApiServerErrors } from '../../platform/http/errors/api-errors.js';
import { DEV_V1 } from '../../platform/http/developer-api.js';
import { TIME } from '../../platform/http/validation/schemas.openapi.js';
import { ApiPostId, PERMALINK, POST_ID } from '../posts/post.response.js';
import { PostsService } from '../posts/posts.service.js';

@ApiSchema({ name: 'Analytics', description: 'Engagement counts of a post.' })
export class AnalyticsResponse {
  @ApiProperty(POST_ID)
  id: string;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 12,
    description: 'Number of users who like the post.',
  })
  likes: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 3,
    description: 'Number of comments on the post, without deleted ones.',
  })
  comments: number;

  @ApiProperty({
    ...TIME,
    description: 'Time at which the post was published (UTC, with milliseconds).',
  })
  publishedAt: string;

  @ApiProperty(PERMALINK)
  permalink: string;
}

@ApiTags('analytics')
@ApiServerErrors()
@Controller(`${DEV_V1}/posts/:id/analytics`)
export class AnalyticsController {
  constructor(private readonly posts: PostsService) {}

  @Get()
  @Scopes('analytics.read')
  @ApiOperation({
    operationId: 'getPostAnalytics',
    summary: "Retrieve the like and comment counts of one of the user's posts",
    description: 'The comments include replies, but no deleted comments.',
  })
  @ApiOkResponse({ type: AnalyticsResponse })
  @ApiPostId()
  async getPostAnalytics(
    @CallerOf() { userId }: Caller,
    @Param('id') id: string,
  ): Promise<AnalyticsResponse> {
    const { likeCount, commentCount, createdAt } = await this.posts.counts(userId, id);
    return {
      id,
      likes: likeCount,
      comments: commentCount,
      publishedAt: createdAt.toISOString(),
      permalink: this.posts.permalink(id),
    };
  }
}
