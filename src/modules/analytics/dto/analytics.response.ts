import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../../common/ids.js';
import type { PostAnalytics } from '../analytics.service.js';

@ApiSchema({ name: 'Analytics' })
export class AnalyticsResponse {
  @ApiProperty({
    description: 'Id of the post.',
    pattern: idPattern('post').source,
    example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({ type: 'integer', minimum: 0, example: 12 })
  likes: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 3,
    description: 'Comments that are not deleted.',
  })
  comments: number;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  publishedAt: string;

  @ApiProperty({
    format: 'uri',
    example: 'https://example.com/post/post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  permalink: string;

  static from({ id, likes, comments, publishedAt, permalink }: PostAnalytics): AnalyticsResponse {
    return { id, likes, comments, publishedAt: publishedAt.toISOString(), permalink };
  }
}
