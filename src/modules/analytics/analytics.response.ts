import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import { TIME } from '../../platform/http/validation/schemas.js';
import type { PostAnalytics } from './analytics.service.js';

@ApiSchema({ name: 'Analytics', description: 'How a post is doing.' })
export class AnalyticsResponse {
  @ApiProperty({
    description: 'Id of the post.',
    pattern: idPattern('post').source,
    example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 12,
    description: 'Members who like the post.',
  })
  likes: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 3,
    description: 'Comments that are not deleted.',
  })
  comments: number;

  @ApiProperty({ ...TIME, description: 'When the post was published: UTC, with milliseconds.' })
  publishedAt: string;

  @ApiProperty({
    format: 'uri',
    description: 'Public URL of the post.',
    example: 'https://example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  permalink: string;

  static from({ id, likes, comments, publishedAt, permalink }: PostAnalytics): AnalyticsResponse {
    return { id, likes, comments, publishedAt: publishedAt.toISOString(), permalink };
  }
}
