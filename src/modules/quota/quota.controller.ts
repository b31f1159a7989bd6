import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AnyScope } from '../../access/any-scope.decorator.js';
import { CallerOf, type Caller } from '../../access/caller.js';
import { ApiFaults } from '../../http/api-errors.decorator.js';
import { DEV_V1 } from '../../http/routes.js';
import { QuotaResponse } from './dto/quota.response.js';
import { QuotaService } from './quota.service.js';

@ApiTags('quota')
@ApiFaults()
@Controller(`${DEV_V1}/quota`)
export class QuotaController {
  constructor(private readonly quota: QuotaService) {}

  @Get()
  @AnyScope()
  @ApiOperation({
    operationId: 'getQuota',
    summary: 'Read what the app may still publish this month',
    description: 'Costs nothing of it.',
  })
  @ApiOkResponse({ type: QuotaResponse })
  async getQuota(@CallerOf() { clientId, postLimit }: Caller): Promise<QuotaResponse> {
    return QuotaResponse.from(await this.quota.standing(clientId, postLimit));
  }
}
