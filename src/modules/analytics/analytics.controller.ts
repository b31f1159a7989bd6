import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { ApiFaults } from '../../platform/http/errors/api-errors.js';
import { DEV_V1 } from '../../platform/http/developer-api.js';
import { ApiPostId } from '../posts/post-id.param.js';
import { AnalyticsService } from './analytics.service.js';
import { AnalyticsResponse } from './analytics.response.js';

@ApiTags('analytics')
@ApiFaults()
@Controller(`${DEV_V1}/posts/:id/analytics`)
export class AnalyticsController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get()
  @Scopes('analytics.read')
  @ApiOperation({
    operationId: 'getPostAnalytics',
    summary: "Read likes and comments of one of the user's posts",
  })
  @ApiOkResponse({ type: AnalyticsResponse })
  @ApiPostId()
  async getPostAnalytics(
    @CallerOf() { userId }: Caller,
    @Param('id') id: string,
  ): Promise<AnalyticsResponse> {
    return AnalyticsResponse.from(await this.analytics.ofPost(userId, id));
  }
}
