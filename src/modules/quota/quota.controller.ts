import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { type Caller, CallerOf } from '../../platform/access/caller.js';
import { AnyScope } from '../../platform/access/scopes.decorator.js';
import { DEV_V1 } from '../../platform/http/developer-api.js';
import { ApiServerErrors } from '../../platform/http/errors/api-errors.js';
import { QuotaService } from './quota.service.js';

@ApiSchema({ name: 'Quota', description: "The app's quota in the current calendar month." })
export class QuotaResponse {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 0,
    description: 'Maximum number of posts per month, or null if unlimited.',
    example: 100,
  })
  limit: number | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Number of posts published this month.',
    example: 13,
  })
  used: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 0,
    description: 'Number of posts left this month, or null if unlimited.',
    example: 87,
  })
  remaining: number | null;

  @ApiProperty({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    description: 'The calendar month, in UTC.',
    example: '2026-11',
  })
  period: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Time at which the quota resets (UTC, with milliseconds).',
    example: '2026-12-01T00:00:00.000Z',
  })
  resetsAt: string;
}

@ApiTags('quota')
@ApiServerErrors()
@Controller(`${DEV_V1}/quota`)
export class QuotaController {
  constructor(private readonly quota: QuotaService) {}

  @Get()
  @AnyScope()
  @ApiOperation({
    operationId: 'getQuota',
    summary: "Retrieve the app's quota for the current month",
    description: 'This request does not count against the quota.',
  })
  @ApiOkResponse({ type: QuotaResponse })
  async getQuota(@CallerOf() { clientId, postLimit }: Caller): Promise<QuotaResponse> {
    const quota = await this.quota.current(clientId, postLimit);
    return { ...quota, resetsAt: quota.resetsAt.toISOString() };
  }
}
